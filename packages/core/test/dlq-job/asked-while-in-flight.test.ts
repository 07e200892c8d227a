import type { BridgeConfig } from "@bridge/config";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqStore, type Processor } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { Job } from "../../src/dlq-job/job.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, type MemoryBridge, refusal } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, started, stored, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

const ENTRIES = 40;
const IN_FLIGHT = 8;
const SETTINGS = { ...AT_ONCE, concurrency: IN_FLIGHT };

/** As if instances shared the store. */
const shared = (config: BridgeConfig): BridgeConfig => ({
  ...config,
  stores: { ...config.stores, dlq: { type: "test", reach: "cluster", options: {} } },
});

interface Pair {
  readonly clock: FakeClock;
  readonly dlq: DlqStore;
  /** It owns the job, and has as much in flight as the job may have, until that is let go. */
  readonly owner: MemoryBridge;
  readonly other: MemoryBridge;
  readonly job: Job;
  readonly letGo: () => void;
  /** The owner cannot write jobs any more. */
  readonly cutOff: () => void;
  readonly arrived: () => number;
}

interface PairOptions {
  readonly settings?: Job["settings"];
  readonly sendTimeoutMs?: number;
  readonly processors?: readonly Processor[];
  /** Sends that the target holds. */
  readonly held?: number;
}

async function withSendsInFlight({
  settings = SETTINGS,
  sendTimeoutMs = 1e9,
  processors = [],
  held = IN_FLIGHT,
}: PairOptions = {}): Promise<Pair> {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  let isCut = false;
  const seen = seenDlq(dlq, (name) => {
    if (isCut && name === "jobs.put") throw new BridgeError("CONNECTION_LOST", "cut off");
  });
  const policy = { sendTimeoutMs };
  const owner = await started({ clock, dlq: seen, config: shared, instanceId: "plant-a", policy, processors });
  await fill(dlq, ENTRIES);
  const { sends } = owner.hub.channel("out");
  const hold = sends.hold();
  const job = await begun(owner, { settings });
  await owner.hub.channel("out").until((at) => at.sends.held === held, bound());
  const other = await started({
    clock,
    dlq: seenDlq(dlq, () => {}),
    config: shared,
    instanceId: "plant-b",
    policy,
  });
  return {
    clock,
    dlq,
    owner,
    other,
    job,
    letGo: () => hold[Symbol.dispose](),
    cutOff: () => (isCut = true),
    arrived: () => owner.hub.channel("out").arrived + other.hub.channel("out").arrived,
  };
}

async function ended({ owner, other }: Pair): Promise<void> {
  await owner.supervisor.shutdown();
  await other.supervisor.shutdown();
}

/** All that is left, and at once. */
function theRest(bridge: MemoryBridge): Promise<Job> {
  return begun(bridge, { settings: { ...AT_ONCE, concurrency: ENTRIES } });
}

describe("interface 4.10: a job that is asked to stand still while it has sends in flight", () => {
  test.each([
    { call: "cancel", state: "cancelled", at: "owner" },
    { call: "cancel", state: "cancelled", at: "other" },
    { call: "pause", state: "paused", at: "owner" },
    { call: "pause", state: "paused", at: "other" },
  ] as const)("is $state once they have settled, asked to $call at the $at", async ({ call, state, at }) => {
    const pair = await withSendsInFlight();
    const { clock, dlq, owner, other, job, letGo, arrived } = pair;
    await pair[at].supervisor.jobs().ask(job.id, { call }, bound());
    await clock.advance(5_000);
    const asked = await other.supervisor.jobs().get(job.id, bound());
    expect(asked).toMatchObject({
      state: "running",
      requested: { call },
      inFlight: IN_FLIGHT,
      owner: { instanceId: "plant-a" },
    });
    expect(owner.hub.channel("out").sends.held).toBe(IN_FLIGHT);
    await expect(theRest(other)).rejects.toMatchObject({ reason: "route_busy" });

    letGo();
    const stands = await until(other, job.id, state);
    expect(stands).toMatchObject({ inFlight: 0, counts: { succeeded: IN_FLIGHT, failed: 0, inDoubt: 0 } });
    expect(stands.requested).toBeUndefined();
    expect(await stored(dlq)).toHaveLength(ENTRIES - IN_FLIGHT);
    if (call === "pause") await other.supervisor.jobs().ask(job.id, { call: "resume" }, bound());
    const { id } = call === "pause" ? job : await theRest(other);
    expect((await until(other, id, "completed")).counts).toMatchObject({ skipped: 0, inDoubt: 0 });
    expect(arrived()).toBe(ENTRIES);
    await ended(pair);
  });

  test("waits for them no longer than a send may take: what is not known by then is marked", async () => {
    const pair = await withSendsInFlight({ sendTimeoutMs: 10_000 });
    const { clock, owner, job, letGo } = pair;
    await owner.supervisor.jobs().ask(job.id, { call: "cancel" }, bound());
    await clock.advance(10_000);
    expect(await until(owner, job.id, "cancelled")).toMatchObject({ counts: { succeeded: 0, failed: IN_FLIGHT } });
    letGo();
    await ended(pair);
  });

  test("is taken out of the hands of an owner that is gone meanwhile: as asked for, with what was in flight in doubt", async () => {
    const pair = await withSendsInFlight();
    const { clock, owner, other, job, cutOff, letGo, arrived } = pair;
    await other.supervisor.jobs().ask(job.id, { call: "cancel" }, bound());
    cutOff();
    await clock.advance(15_000);
    await expect(theRest(other)).rejects.toMatchObject({ reason: "route_busy" });
    const cancelled = await until(other, job.id, "cancelled");
    expect(cancelled.counts).toMatchObject({ succeeded: 0, inDoubt: IN_FLIGHT });
    letGo();
    await clock.advance(5_000);
    expect(owner.hub.channel("out").arrived).toBe(IN_FLIGHT);
    const { id } = await theRest(other);
    await until(other, id, "completed");
    expect(arrived()).toBe(ENTRIES);
    await ended(pair);
  });

  test("goes on when that is withdrawn, and sends nothing twice", async () => {
    const pair = await withSendsInFlight();
    const { clock, other, job, letGo, arrived } = pair;
    const jobs = other.supervisor.jobs();
    await jobs.ask(job.id, { call: "pause" }, bound());
    await clock.advance(3_000);
    await jobs.ask(job.id, { call: "resume" }, bound());
    letGo();
    const done = await until(other, job.id, "completed");
    expect(done.counts).toMatchObject({ succeeded: ENTRIES, failed: 0, inDoubt: 0 });
    expect(arrived()).toBe(ENTRIES);
    await ended(pair);
  });

  test("begins its next try when that is asked for instead, once they have settled", async () => {
    const pair = await withSendsInFlight();
    const { clock, other, job, letGo, arrived } = pair;
    const jobs = other.supervisor.jobs();
    await jobs.ask(job.id, { call: "pause" }, bound());
    await clock.advance(3_000);
    await jobs.ask(job.id, { call: "resume", retryFailed: true }, bound());
    await clock.advance(3_000);
    expect(await jobs.get(job.id, bound())).toMatchObject({ attempt: 1, inFlight: IN_FLIGHT });
    letGo();
    expect(await until(other, job.id, "completed")).toMatchObject({
      attempt: 2,
      counts: { succeeded: ENTRIES, failed: 0, inDoubt: 0 },
    });
    expect(arrived()).toBe(ENTRIES);
    await ended(pair);
  });
});

test("interface 4.10.3: a job that has halted keeps its route, and is cancelled once what is in flight has settled", async () => {
  const refused = Promise.withResolvers<void>();
  let isPlanned = false;
  const refusing: Processor = {
    process: async (envelope) => {
      if (envelope.subject !== "e00003") return { kind: "pass", envelope };
      // The plan takes it through the processors, too.
      if (!isPlanned) isPlanned = true;
      else await refused.promise.then(() => Promise.reject(refusal));
      return { kind: "pass", envelope };
    },
  };
  const halt = { failureRatio: 0, minAttempts: 1, consecutive: 1 };
  const held = IN_FLIGHT - 1;
  const pair = await withSendsInFlight({ settings: { ...SETTINGS, halt }, processors: [refusing], held });
  const { clock, owner, other, job, letGo, arrived } = pair;
  const jobs = other.supervisor.jobs();
  refused.resolve();
  const halted = await until(other, job.id, ({ state }) => state === "halted");
  expect(halted).toMatchObject({ owner: { instanceId: "plant-a" }, counts: { succeeded: 0 } });
  await expect(theRest(other)).rejects.toMatchObject({ reason: "route_busy" });
  await jobs.ask(job.id, { call: "cancel" }, bound());
  await clock.advance(5_000);
  const asked = await jobs.get(job.id, bound());
  expect(asked).toMatchObject({ state: "halted", requested: { call: "cancel" }, inFlight: held });
  expect(owner.hub.channel("out").sends.held).toBe(held);
  await expect(theRest(other)).rejects.toMatchObject({ reason: "route_busy" });

  letGo();
  expect((await until(other, job.id, "cancelled")).counts).toMatchObject({ succeeded: held, failed: 1, inDoubt: 0 });
  const { id } = await theRest(other);
  expect((await until(other, id, "completed")).counts).toMatchObject({ succeeded: ENTRIES - held, skipped: 0 });
  expect(arrived()).toBe(ENTRIES);
  await ended(pair);
});
