import { openMemoryDlq } from "@bridge/dlq-memory";
import { type DlqJobs, type LogFields, type Logger, silentLogger, type StoredJob } from "@bridge/ports";
import { sealJob } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { type Job, JOB_STATES } from "../../src/dlq-job/job.ts";
import { storedJob } from "../../src/dlq-job/job-document.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, orderOf, started, stored, until } from "./job-bridge.ts";

const DAY = 24 * 3_600_000;

async function withJobs(logger: Logger = silentLogger) {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 1_000, clock });
  await fill(dlq, 20);
  return { clock, dlq, bridge: await started({ clock, dlq, logger }) };
}

type Change = (kept: StoredJob) => Partial<StoredJob>;

/** Writes the job as somebody has changed it, under its next revision. */
async function spoil(jobs: DlqJobs, id: string, change: Change = () => ({ document: "{" })): Promise<void> {
  const kept = await jobs.get(id, bound());
  if (kept === undefined) throw new Error("the job is not there");
  const next = { ...kept, revision: kept.revision + 1 };
  await jobs.put({ ...next, ...change(next) }, kept.revision, bound());
}

/** The document of a newer release. */
const newer: Change = (next) => ({ document: sealJob(next, '{"v":2}') });

test("a damaged job is told as failed, with what becomes of it; it is kept for 7 days, whatever state stands beside it, and a newer release's stays", async () => {
  const { clock, dlq, bridge } = await withJobs();
  const jobs = bridge.supervisor.jobs();
  const put = (id: string, state: string, document: string): Promise<boolean> =>
    dlq.jobs.put({ id, revision: 1, state, createdAt: clock.now(), document } satisfies StoredJob, undefined, bound());
  const states = [...JOB_STATES, "", "text"];
  for (const [nth, state] of states.entries()) await put(`damaged-${nth}`, state, "{");
  await put("newer", "running", "");
  await spoil(dlq.jobs, "newer", newer);
  for (const call of ["pause", "resume", "cancel", "undo"] as const)
    await expect(jobs.ask("damaged-1", { call }, bound())).rejects.toMatchObject({
      reason: "state",
      message: expect.stringMatching(
        /^the job is failed: .* damaged: .* deleted when it is 7 days old and the trash has nothing of it; plan another one$/,
      ) as unknown,
    });
  clock.skip(6 * DAY);
  await clock.advance(62_000);
  const listed = async () => (await jobs.list({ limit: 99 }, bound())).jobs;
  expect(await listed()).toHaveLength(states.length + 1);
  expect(new Set((await listed()).map(({ state }) => state))).toEqual(new Set(["failed"]));
  clock.skip(DAY);
  await clock.advance(62_000);
  expect((await listed()).map(({ id }) => id)).toEqual(["newer"]);
  await bridge.supervisor.shutdown();
});

test.each(["", ".", ".."])(
  "a job whose id somebody has made %j, which no path can name, is told so, and goes once the trash has nothing of it",
  async (id) => {
    const { clock, dlq, bridge } = await withJobs();
    const changed = { id, revision: 1, state: "completed", createdAt: clock.now(), document: "{" };
    await dlq.jobs.put(changed, undefined, bound());
    await dlq.admin.trash.move((await stored(dlq)).slice(0, 1), id, clock.now() + DAY, bound());
    const reasons = async () =>
      (await bridge.supervisor.jobs().list({ limit: 9 }, bound())).jobs.map(({ reason }) => reason);
    await clock.advance(62_000);
    expect(await reasons()).toEqual([expect.stringMatching(/ damaged: .* deleted as soon as the trash has nothing/)]);
    clock.skip(DAY);
    await clock.advance(62_000);
    expect(await reasons()).toEqual([]);
    await bridge.supervisor.shutdown();
  },
);

test("a damaged job does not stay for ever, whatever time somebody has given it", async () => {
  const { clock, dlq, bridge } = await withJobs();
  for (const [id, createdAt] of [
    ["ahead", clock.now() + 8 * DAY],
    ["beyond", Number.MAX_SAFE_INTEGER],
    ["new", clock.now()],
  ] as const)
    await dlq.jobs.put({ id, revision: 1, state: "completed", createdAt, document: "{" }, undefined, bound());
  await clock.advance(62_000);
  expect((await bridge.supervisor.jobs().list({ limit: 9 }, bound())).jobs.map(({ id }) => id)).toEqual(["new"]);
  await bridge.supervisor.shutdown();
});

test("a damaged job is told once in the log", async () => {
  const told: [string, LogFields | undefined][] = [];
  const logger: Logger = {
    ...silentLogger,
    error: (message, fields) => void told.push([message, fields]),
    child: () => logger,
  };
  const { clock, dlq, bridge } = await withJobs(logger);
  const { job } = await bridge.supervisor.jobs().plan(orderOf(), bound());
  await spoil(dlq.jobs, job.id);
  await clock.advance(200_000);
  expect(told).toEqual([["a job of the DLQ is not as it was written: it is not gone on with", { job_id: job.id }]]);
  await bridge.supervisor.shutdown();
});

test("damaged jobs are none of the sixteen that may be active", async () => {
  const { dlq, bridge } = await withJobs();
  for (let nth = 0; nth < 16; nth++) {
    const { job } = await bridge.supervisor.jobs().plan(orderOf(), bound());
    await spoil(dlq.jobs, job.id);
  }
  const { counts } = await until(bridge, (await begun(bridge)).id, "completed");
  expect(counts.succeeded).toBe(20);
  await bridge.supervisor.shutdown();
});

test("a damaged purge is undone from its batch of the trash alone; once that is empty, and of a damaged redrive, an undo is refused", async () => {
  const { dlq, bridge } = await withJobs();
  const jobs = bridge.supervisor.jobs();
  const before = await stored(dlq);
  const settings = { ...AT_ONCE, rate: 5_000 };
  const { id } = await begun(bridge, { kind: "purge", undoWithinMs: 3_600_000, settings });
  await until(bridge, id, "completed");
  expect(await stored(dlq)).toEqual([]);
  await spoil(dlq.jobs, id);
  expect(await jobs.get(id, bound())).toMatchObject({ state: "failed", kind: "purge" });
  expect(await jobs.ask(id, { call: "undo" }, bound())).toMatchObject({ id, state: "undoing" });
  expect(await until(bridge, id, "undone")).toMatchObject({ total: 20, counts: { succeeded: 20, restored: 20 } });
  expect(await stored(dlq)).toEqual(before);
  await spoil(dlq.jobs, id);
  await expect(jobs.ask(id, { call: "undo" }, bound())).rejects.toMatchObject({ reason: "state" });
  await bridge.supervisor.shutdown();
});

test.each<[string, Change]>([
  ["a damaged purge whose created_at", () => ({ document: "{", createdAt: 0 })],
  ["a purge whose created_at", () => ({ createdAt: 0 })],
  ["a purge whose ended_at", endedAtFirst],
])("%s is in the far past is kept while the trash has entries of it, and told", async (_, change) => {
  const told: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => void told.push(message), child: () => logger };
  const { clock, dlq, bridge } = await withJobs(logger);
  clock.skip(30 * DAY);
  const jobs = bridge.supervisor.jobs();
  const before = await stored(dlq);
  const purge = { kind: "purge", undoWithinMs: DAY, settings: { ...AT_ONCE, rate: 5_000 } } as const;
  const { id } = await begun(bridge, purge);
  await until(bridge, id, "completed");
  await spoil(dlq.jobs, id, change);
  await clock.advance(130_000);
  expect(told).toEqual(["a job is kept beyond its time: the trash has entries of it, or does not tell"]);
  await jobs.ask(id, { call: "undo" }, bound());
  await until(bridge, id, "undone");
  expect(await stored(dlq)).toEqual(before);
  const again = await begun(bridge, purge);
  await until(bridge, again.id, "completed");
  await spoil(dlq.jobs, again.id);
  clock.skip(8 * DAY);
  await clock.advance(130_000);
  await expect(jobs.get(again.id, bound())).rejects.toMatchObject({ kind: "not_found" });
  await bridge.supervisor.shutdown();
});

async function putDamaged(jobs: DlqJobs, count: number, createdAt: number): Promise<void> {
  const damaged = { revision: 1, state: "running", createdAt, document: "{}" };
  for (let nth = 0; nth < count; nth++) await jobs.put({ id: `damaged-${nth}`, ...damaged }, undefined, bound());
}

test("damaged jobs, however many and new, push no sound one out of the list, out of work or out of what is kept", async () => {
  const { clock, dlq, bridge } = await withJobs();
  const jobs = bridge.supervisor.jobs();
  const before = await stored(dlq);
  const { id } = await begun(bridge, { kind: "purge", undoWithinMs: DAY, settings: { ...AT_ONCE, rate: 5_000 } });
  await until(bridge, id, "completed");
  await putDamaged(dlq.jobs, 1_300, clock.now() + DAY);
  await clock.advance(70_000);
  const { jobs: listed } = await jobs.list({ limit: 999 }, bound());
  expect(listed.map(({ id: each }) => each)).toContain(id);
  expect(listed.filter(({ state }) => state === "failed")).toHaveLength(100);
  await jobs.ask(id, { call: "undo" }, bound());
  await until(bridge, id, "undone");
  expect(await stored(dlq)).toEqual(before);
  await until(bridge, (await begun(bridge)).id, "completed");
  await bridge.supervisor.shutdown();
});

test("of a damaged purge whose store does not count its trash nothing is forgotten", async () => {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 1_000, clock });
  await fill(dlq, 20);
  const trash = { ...dlq.admin.trash };
  let isSilent = false;
  const count: typeof trash.count = (cap, signal, batch) =>
    isSilent && batch !== undefined ? Promise.reject(new Error("not now")) : dlq.admin.trash.count(cap, signal, batch);
  const bridge = await started({ clock, dlq: { ...dlq, admin: { ...dlq.admin, trash: { ...trash, count } } } });
  const { id } = await begun(bridge, { kind: "purge", undoWithinMs: DAY, settings: { ...AT_ONCE, rate: 5_000 } });
  await until(bridge, id, "completed");
  await spoil(dlq.jobs, id);
  isSilent = true;
  clock.skip(8 * DAY);
  await clock.advance(130_000);
  expect(await bridge.supervisor.jobs().get(id, bound())).toMatchObject({ state: "failed" });
  isSilent = false;
  await clock.advance(130_000);
  await expect(bridge.supervisor.jobs().get(id, bound())).rejects.toMatchObject({ kind: "not_found" });
  await bridge.supervisor.shutdown();
});

test("a purge of a newer release is left to that", async () => {
  const { dlq, bridge } = await withJobs();
  const settings = { ...AT_ONCE, rate: 5_000 };
  const { id } = await begun(bridge, { kind: "purge", undoWithinMs: 3_600_000, settings });
  await until(bridge, id, "completed");
  await spoil(dlq.jobs, id, newer);
  await expect(bridge.supervisor.jobs().ask(id, { call: "undo" }, bound())).rejects.toMatchObject({
    message: expect.stringContaining("newer release") as unknown,
  });
  expect(await stored(dlq)).toEqual([]);
  await bridge.supervisor.shutdown();
});

test("a purge that somebody has made a redrive is told as a purge, and undone", async () => {
  const { dlq, bridge } = await withJobs();
  const before = await stored(dlq);
  const { id } = await begun(bridge, { kind: "purge", undoWithinMs: 3_600_000, settings: { ...AT_ONCE, rate: 5_000 } });
  await until(bridge, id, "completed");
  await spoil(dlq.jobs, id, ({ document }) => ({ document: document.replace('"kind":"purge"', '"kind":"redrive"') }));
  expect(await bridge.supervisor.jobs().get(id, bound())).toMatchObject({ state: "failed", kind: "purge" });
  await bridge.supervisor.jobs().ask(id, { call: "undo" }, bound());
  await until(bridge, id, "undone");
  expect(await stored(dlq)).toEqual(before);
  await bridge.supervisor.shutdown();
});

/** As if its clock had been wrong. */
function endedAtFirst({ document, revision }: StoredJob): StoredJob {
  const { seal: _, v: _v, ...job } = JSON.parse(document) as Job & { readonly seal: string; readonly v: number };
  return storedJob({ ...job, endedAt: 0 }, revision);
}

const LANE = '"lanes":[{"routeId":"r","total":20,"done":0,"failed":0,"ended":false}]';

test.each<["planned" | "paused", string, Change]>([
  [
    "planned",
    "has made a running one",
    ({ document }) => ({ document: document.replace('"state":"planned"', '"state":"running"') }),
  ],
  ["planned", "has given the lane of a route that is not in its filter", withLane],
  ["paused", "has given the lane of a route that is not in its filter", withLane],
  ["planned", "has given the state of one that runs, in its row and document", running],
  ["paused", "has given the state of one that runs, in its row and document", running],
])("a %s redrive that somebody %s is not carried out", async (state, _, change) => {
  const { clock, dlq, bridge } = await withJobs();
  const before = await stored(dlq);
  const jobs = bridge.supervisor.jobs();
  const { job } = await jobs.plan(orderOf({ query: { routeId: "another" } }), bound());
  const start = () => jobs.start(job.id, { planHash: job.plan.hash }, bound());
  if (state === "paused") {
    await spoil(dlq.jobs, job.id, (next) => storedJob({ ...job, state: "paused" }, next.revision));
    expect(await jobs.get(job.id, bound())).toMatchObject({ state: "paused" });
  }
  await spoil(dlq.jobs, job.id, change);
  await expect(state === "planned" ? start() : jobs.ask(job.id, { call: "resume" }, bound())).rejects.toMatchObject({
    reason: "state",
  });
  await clock.advance(10_000);
  expect(await jobs.get(job.id, bound())).toMatchObject({ state: "failed" });
  expect(await stored(dlq)).toEqual(before);
  await bridge.supervisor.shutdown();
});

function withLane({ document }: StoredJob): Partial<StoredJob> {
  return { document: document.replace(/(?<=,"step":.*)"lanes":\[.*?\]/, LANE).replaceAll('"total":0', '"total":20') };
}

function running({ document }: StoredJob): Partial<StoredJob> {
  const lanes = withLane({ document } as StoredJob).document ?? "";
  return { state: "running", document: lanes.replace(/"state":"\w+"/, '"state":"running"') };
}
