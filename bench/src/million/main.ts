/** A bridge whose DLQ on a file has a million entries: what looking at them costs, and jobs over all of them. @module */
import { setTimeout as sleep } from "node:timers/promises";
import { type BridgeDocument, createRegistry, parseConfig } from "@bridge/config";
import { createSupervisor, type Job, type JobKind, type Supervisor } from "@bridge/core";
import { fileDlq } from "@bridge/dlq-file";
import type { DeadLetterPosition, DlqStore } from "@bridge/ports";
import { memory, memoryHub } from "@bridge/transport-memory";
import { ROUTES, routeName } from "../dlq/dead-letters.ts";
import { OnDemandReceiver } from "../engine/on-demand-receiver.ts";
import { onDemandTransport } from "../engine/on-demand-transport.ts";
import { sampleMessage } from "../engine/sample-message.ts";
import { answer, ready } from "../harness/answer.ts";
import { loopWorkDuring } from "../harness/loop-delay.ts";
import { spreadOf } from "../harness/spread.ts";
import { CountingSender } from "../outbox/counting-sender.ts";
import { BINDING, type MillionJob, SIZE } from "./million-job.ts";
import { type Carried, trafficDuring } from "./traffic.ts";

type Figures = Readonly<Record<string, number>>;

const PAGE = { limit: 100, budget: 10_000, order: "newest" } as const;
const LOOK_MS = 20;
const { path, entries } = JSON.parse(process.argv[2] ?? "") as MillionJob;
const { signal } = new AbortController();
const receiver = new OnDemandReceiver(sampleMessage(SIZE));
const sender = new CountingSender();
let bridge: Supervisor | undefined;

function documentOf(): BridgeDocument {
  const routes = Array.from({ length: ROUTES }, (_, index) => routeName(index));
  return {
    bridge: { id: "bench" },
    stores: { dlq: { type: "file", options: { path } } },
    receivers: [
      { id: "beside", transport: "on-demand" },
      ...routes.map((id) => ({ id, transport: "memory", options: { channel: id } })),
    ],
    senders: [
      { id: "out", transport: "on-demand" },
      { id: "nowhere", transport: "memory", options: { discard: true } },
    ],
    bindings: [
      { id: BINDING, sender_id: "out", address: "out" },
      { id: "to-nowhere", sender_id: "nowhere", address: "out" },
    ],
    routes: [
      { id: "beside", receiver_id: "beside", bindings: ["to-nowhere"] },
      ...routes.map((id) => ({ id, receiver_id: id, bindings: [BINDING] })),
    ],
  };
}

/** Starts the bridge, and resolves when all entries are counted. */
async function open(): Promise<Figures> {
  const registry = createRegistry({
    transports: [onDemandTransport(receiver, sender), memory(memoryHub({ history: 0 }))],
    dlqStores: [fileDlq],
  });
  const supervisor = createSupervisor({ config: parseConfig(documentOf(), registry), registry });
  bridge = supervisor;
  await supervisor.start(AbortSignal.timeout(20_000));
  const begin = performance.now();
  const figures = await whileCarrying(async () => {
    // A look while they are not counted goes through the newest 20,000: so it is asked seldom.
    while (!(await looksCounted())) await sleep(500);
  });
  return { elapsedMs: performance.now() - begin, ...figures };
}

async function looksCounted(): Promise<boolean> {
  const facets = await dlq().facets({ query: {}, by: ["routeId"], maxGroups: 1, buckets: 0 }, signal);
  return facets.exact && facets.total === entries;
}

function running(): Supervisor {
  if (bridge === undefined) throw new Error("the bridge was not started");
  return bridge;
}

function dlq(): Required<Pick<DlqStore, "page" | "facets">> & DlqStore {
  const store = running().dlq();
  if (store?.page === undefined || store.facets === undefined) throw new Error("there is no DLQ that can do that");
  return store as ReturnType<typeof dlq>;
}

async function timed(work: () => Promise<unknown>): Promise<Figures> {
  let elapsedMs = 0;
  const figures = await whileCarrying(async () => {
    const begin = performance.now();
    await work();
    elapsedMs = performance.now() - begin;
  });
  return { ...figures, elapsedMs };
}

async function whileCarrying(work: () => Promise<void>): Promise<Figures> {
  const rss = [process.memoryUsage.rss()];
  const sampling = setInterval(() => void rss.push(process.memoryUsage.rss()), 250);
  const cpu = process.cpuUsage();
  let carried: Carried | undefined;
  const delay = await loopWorkDuring(async () => {
    carried = await trafficDuring(receiver, work);
  });
  clearInterval(sampling);
  const { user, system } = process.cpuUsage(cpu);
  return {
    cpuMs: (user + system) / 1_000,
    ...delay,
    ...carried,
    rssMb: Math.max(...rss) / 2 ** 20,
    rssBeforeMb: (rss[0] ?? 0) / 2 ** 20,
    // A heap takes its room in the first quarter, and more after that would have no end.
    rssGrew:
      spreadOf(rss.slice((3 * rss.length) / 4)).median / spreadOf(rss.slice(rss.length / 4, rss.length / 2)).median,
  };
}

function summary(): Promise<Figures> {
  const request = { query: {}, by: ["fingerprint"], maxGroups: 200, buckets: 48 } as const;
  return timed(async () => {
    const { exact, total } = await dlq().facets(request, signal);
    if (!exact || total !== entries) throw new Error(`${total} entries were counted`);
  });
}

/** `place`: the share of all entries that is newer. */
async function page(place: number): Promise<Figures> {
  const facets = await dlq().facets({ query: {}, by: ["routeId"], maxGroups: 1, buckets: 0 }, signal);
  const [from = 0, to = 0] = [facets.oldestFailedAt, facets.newestFailedAt];
  const after: DeadLetterPosition = { failedAt: Math.round(to - (to - from) * place), id: "" };
  return timed(async () => {
    const found = await dlq().page({}, { ...PAGE, after: place === 0 ? undefined : after }, signal);
    if (found.entries.length !== PAGE.limit) throw new Error(`a page had ${found.entries.length} entries`);
  });
}

let planned: Job | undefined;

interface Planned {
  readonly kind: JobKind;
  readonly concurrency: number;
  /** Of all entries. */
  readonly part: number;
}

/** Of a part as much as is there: what was planned before may be gone. */
async function plan({ kind, concurrency, part }: Planned): Promise<Figures> {
  const settings = {
    rate: 10_000,
    concurrency,
    ramp: [],
    rampPauseMs: 0,
    halt: { failureRatio: 0.1, minAttempts: 20, consecutive: 10 },
  };
  const taken = kind === "purge" ? { undoWithinMs: 3_600_000 } : {};
  return timed(async () => {
    const limit = part === 1 ? {} : { limit: entries * part };
    const order = { kind, query: {}, reason: "bench", actor: "bench", settings, ...taken, ...limit };
    planned = (await running().jobs().plan(order, signal)).job;
    if (!planned.plan.exact) throw new Error(`${planned.plan.total} entries were counted in time`);
  });
}

/** Starts what was planned, and resolves when it is done. */
function carryOut(): Promise<Figures> {
  return asJob("completed", (id, planHash) => running().jobs().start(id, { planHash }, signal));
}

function undo(): Promise<Figures> {
  return asJob("undone", (id) => running().jobs().ask(id, { call: "undo" }, signal));
}

async function asJob(end: Job["state"], begin: (id: string, planHash: string) => Promise<Job>): Promise<Figures> {
  const { id, plan: whole } = planned ?? fail();
  const sent = sender.accepted;
  let last: Job | undefined;
  const figures = await timed(async () => {
    await begin(id, whole.hash);
    do {
      await sleep(LOOK_MS);
      last = await running().jobs().get(id, signal);
      if (last.state === "halted" || last.state === "failed") throw new Error(JSON.stringify(last));
    } while (last.state !== end);
  });
  const { kind, counts } = last ?? fail();
  const { total } = whole;
  const missing = total - (end === "undone" ? counts.restored : counts.succeeded);
  const lost = missing + (kind === "redrive" ? Math.abs(total - (sender.accepted - sent)) : 0);
  const { elapsedMs = Number.NaN, cpuMs = Number.NaN } = figures;
  return { ...figures, perSecond: (total / elapsedMs) * 1_000, cpuMicros: (cpuMs / total) * 1_000, lost };
}

function fail(): never {
  throw new Error("nothing was planned");
}

answer("open", open);
answer("alone", (ms: number) => timed(() => sleep(ms)));
answer("summary", summary);
answer("page", page);
answer("plan", plan);
answer("carry out", carryOut);
answer("undo", undo);
ready();
