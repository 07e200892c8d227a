import { describe, expect, test } from "vitest";
import { JobRefusal } from "../../src/dlq-job/job-refusal.ts";
import type { Job } from "../../src/dlq-job/job.ts";
import type { Jobs } from "../../src/dlq-job/jobs.ts";
import { bound, type MemoryBridge } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, shared, until, rewrite } from "./job-bridge.ts";
import { type LockedWorld, lockedWorld, TABLES } from "./locked-dlq.ts";

const ENTRIES = 600;
const REDRIVE = { settings: { ...AT_ONCE, rate: 100 } } as const;
const PURGE = { kind: "purge", undoWithinMs: 3_600_000, settings: { ...AT_ONCE, rate: 100 } } as const;
const ALL = [...TABLES.entries, ...TABLES.trash, ...TABLES.jobs];
const AWAY = [
  { what: "the table of jobs is locked", calls: TABLES.jobs },
  { what: "the table of jobs takes no writes", calls: ["jobs.put"] },
  { what: "the database is away", calls: ALL },
];
const ORDERS = [REDRIVE, PURGE];

/** What it comes to, and how long it took by the clock of the bridge. */
async function timed<Result>({ clock }: MemoryBridge, asked: Promise<Result>): Promise<[Result | Error, number]> {
  const beganAt = clock.monotonic();
  let result: [Result | Error, number] | undefined;
  asked.then(
    (value) => (result = [value, clock.monotonic() - beganAt]),
    (error: Error) => (result = [error, clock.monotonic() - beganAt]),
  );
  await clock.until(() => result !== undefined);
  return result as unknown as [Result | Error, number];
}

async function away(order: (typeof ORDERS)[number], calls: readonly string[]): Promise<LockedWorld & { id: string }> {
  const world = await lockedWorld(ENTRIES);
  const { id } = await begun(world.bridge, order);
  await until(world.bridge, id, ({ counts }) => counts.succeeded > 100);
  world.lock(calls);
  return { ...world, id };
}

const WAYS = AWAY.flatMap((lock) =>
  ORDERS.map((order) => ({ ...lock, order, kind: "kind" in order ? "purge" : "redrive" })),
);

describe("interface 2.16: the instance that works on a job shows it as it stands", () => {
  test.each(WAYS)("while $what, of a $kind, within 2 s, also once it has halted", async ({ order, calls }) => {
    const { bridge, unlock, id } = await away(order, calls);
    const { clock, supervisor } = bridge;
    for (const [ms, state] of [
      [3_000, "running"],
      [20_000, "running"],
      [45_000, "halted"],
      [120_000, "halted"],
    ] as const) {
      await clock.advance(ms);
      const [job, took] = await timed(bridge, supervisor.jobs().get(id, bound()));
      expect(job).toMatchObject({ id, state, unstored: true });
      expect((job as Job).counts.succeeded).toBeGreaterThan(100);
      expect(took).toBeLessThanOrEqual(2_000);
    }
    unlock();
    const halted = await until(bridge, id, "halted");
    expect(halted.unstored).toBeUndefined();
    await supervisor.shutdown();
  });

  test("one that nobody works on here is not shown while its store does not tell it", async () => {
    const { bridge, lock, unlock } = await lockedWorld(ENTRIES);
    const { id } = await begun(bridge, PURGE);
    await until(bridge, id, "completed");
    lock(TABLES.jobs);
    const [error] = await timed(bridge, bridge.supervisor.jobs().get(id, bound()));
    expect(error).toMatchObject({ code: "TIMEOUT" });
    unlock();
    await bridge.supervisor.shutdown();
  });
});

test("interface 4.10.6: a call beyond lease_ttl is refused within 10 s, and with what it needs to be known before", async () => {
  const { bridge, lock, unlock } = await lockedWorld(ENTRIES, shared);
  const { clock, supervisor } = bridge;
  const { id } = await begun(bridge, REDRIVE);
  await until(bridge, id, ({ counts }) => counts.succeeded > 100);
  lock(ALL);
  await clock.advance(30_000);
  const jobs = supervisor.jobs();
  const calls = [
    () => jobs.ask(id, { call: "pause" }, bound()),
    () => jobs.ask(id, { call: "cancel" }, bound()),
    () => jobs.change(id, { rate: 5 }, bound()),
  ];
  for (const call of calls) {
    const [error, took] = await timed(bridge, jobs.facts(id, bound()).then(call));
    expect(error).toMatchObject({ code: "TIMEOUT" });
    expect(took).toBeLessThanOrEqual(10_000);
  }
  unlock();
  await supervisor.shutdown();
});

const CALLS = [
  { call: "pause", state: "paused" },
  { call: "cancel", state: "cancelled" },
] as const;

describe("interface 4.10.6: the owner of a job obeys while its store does not take what is asked", () => {
  test.each(WAYS.flatMap((way) => CALLS.map((call) => ({ ...way, ...call }))))(
    "$call of a $kind while $what: nothing more begins, and it is stored when that can be",
    async ({ order, calls, call, state }) => {
      const { bridge, unlock, id } = await away(order, calls);
      const { clock, supervisor, dlq, hub } = bridge;
      const [job, took] = await timed(bridge, supervisor.jobs().ask(id, { call }, bound()));
      expect(job).toMatchObject({ requested: { call }, unstored: true });
      expect(took).toBeLessThanOrEqual(2_000);
      const [again] = await timed(bridge, supervisor.jobs().ask(id, { call }, bound()));
      expect(again).toMatchObject({ requested: { call } });
      await clock.advance(1_000);
      const { arrived } = hub.channel("out");
      await clock.advance(90_000);
      // Whoever asked for it need not hear that it would have stopped by itself.
      const [shown] = await timed(bridge, supervisor.jobs().get(id, bound()));
      expect(shown).toMatchObject({ state: "running", requested: { call }, inFlight: 0 });
      unlock();
      const done = await until(bridge, id, state);
      expect(hub.channel("out").arrived).toBe(arrived);
      expect((await dlq.jobs?.get(id, bound()))?.state).toBe(state);
      if (call === "pause") {
        await supervisor.jobs().ask(id, { call: "resume" }, bound());
        expect((await until(bridge, id, "completed")).counts).toMatchObject({ succeeded: ENTRIES, skipped: 0 });
      }
      expect(done.unstored).toBeUndefined();
      await supervisor.shutdown();
    },
  );

  test("a pause that is not stored yet is withdrawn by a resume, and followed by a cancel", async () => {
    const { bridge, unlock, id } = await away(REDRIVE, ALL);
    const { clock, supervisor, dlq } = bridge;
    const asks = ["pause", "resume", "pause", "cancel"] as const;
    for (const call of asks) {
      const [job] = await timed(bridge, supervisor.jobs().ask(id, { call }, bound()));
      expect(job).toMatchObject({ unstored: true });
      await clock.advance(5_000);
    }
    const [refused] = await timed(bridge, supervisor.jobs().ask(id, { call: "pause" }, bound()));
    expect(refused).toBeInstanceOf(JobRefusal);
    expect(refused).toMatchObject({ reason: "state", message: "the job is being cancelled" });
    unlock();
    await until(bridge, id, "cancelled");
    expect((await dlq.jobs?.get(id, bound()))?.state).toBe("cancelled");
    await supervisor.shutdown();
  });

  test("what is asked next is judged by what was asked here, also while the store tells the job and does not take it", async () => {
    const { bridge, unlock, id } = await away(PURGE, ["jobs.put"]);
    const { supervisor, dlq } = bridge;
    const ask = async (call: "pause" | "resume" | "cancel" | "undo") => {
      const [job] = await timed(bridge, supervisor.jobs().ask(id, { call }, bound()));
      return job;
    };
    expect(await ask("pause")).toMatchObject({ requested: { call: "pause" }, unstored: true });
    const resumed = await ask("resume");
    expect(resumed).toMatchObject({ state: "running" });
    expect(resumed).not.toHaveProperty("requested", { call: "pause" });
    expect((await supervisor.jobs().get(id, bound())).requested).toBeUndefined();
    expect(await ask("cancel")).toMatchObject({ requested: { call: "cancel" } });
    for (const call of ["pause", "resume", "undo"] as const) {
      const told = await ask(call);
      expect(told, `asked to ${call}`).toMatchObject({ reason: "state", message: "the job is being cancelled" });
    }
    unlock();
    await until(bridge, id, "cancelled");
    expect((await dlq.jobs?.get(id, bound()))?.state).toBe("cancelled");
    await supervisor.shutdown();
  });

  test("what is asked while the last words of the owner are under way is done, too", async () => {
    const { bridge, lock, unlock, id } = await away(REDRIVE, []);
    const { clock, supervisor, dlq } = bridge;
    await supervisor.jobs().ask(id, { call: "pause" }, bound());
    lock(ALL);
    await clock.advance(9_000);
    const [job] = await timed(bridge, supervisor.jobs().ask(id, { call: "cancel" }, bound()));
    expect(job).toMatchObject({ requested: { call: "cancel" } });
    unlock();
    await until(bridge, id, "cancelled");
    expect((await dlq.jobs?.get(id, bound()))?.state).toBe("cancelled");
    await supervisor.shutdown();
  });
});

describe("interface 4.10.6: the owner of a job changes its settings while its store does not take that", () => {
  test.each(WAYS)("of a $kind while $what: at once, and stored when that can be", async ({ order, calls }) => {
    const { bridge, unlock, id } = await away(order, calls);
    const { supervisor, dlq } = bridge;
    const [job, took] = await timed(bridge, supervisor.jobs().change(id, { rate: 7 }, bound()));
    expect(job).toMatchObject({ settings: { rate: 7 }, unstored: true });
    expect(took).toBeLessThanOrEqual(2_000);
    const halt = { failureRatio: 0.25 };
    const [again] = await timed(bridge, supervisor.jobs().change(id, { rate: 9, halt }, bound()));
    expect(again).toMatchObject({ settings: { rate: 9, halt } });
    unlock();
    await until(bridge, id, ({ unstored }) => unstored === undefined);
    const stored: unknown = JSON.parse((await dlq.jobs?.get(id, bound()))?.document ?? "");
    const settings = { rate: 9, concurrency: AT_ONCE.concurrency, halt: { ...AT_ONCE.halt, ...halt } };
    expect(stored).toMatchObject({ settings });
    expect(await supervisor.jobs().change(id, { rate: 11 }, bound())).toMatchObject({ settings: { rate: 11, halt } });
    await supervisor.jobs().ask(id, { call: "cancel" }, bound());
    await until(bridge, id, "cancelled");
    await expect(supervisor.jobs().change(id, { rate: 1 }, bound())).rejects.toThrow(JobRefusal);
    await supervisor.shutdown();
  });

  test.each([
    { how: "fails", ends: "unlock" },
    { how: "is carried out late", ends: "thaw" },
  ] as const)(
    "what another hand has changed meanwhile stays, as far as it is something else, when the write under way $how",
    async ({ ends }) => {
      const world = await lockedWorld(ENTRIES);
      const { bridge, unlocked, lock } = world;
      const { clock, supervisor } = bridge;
      const { id } = await begun(bridge, REDRIVE);
      await until(bridge, id, ({ counts }) => counts.succeeded > 100);
      lock(["jobs.put"]);
      // So that a write of the owner is under way, which knows nothing of the change.
      await clock.advance(1_500);
      const [job] = await timed(bridge, supervisor.jobs().change(id, { rate: 7 }, bound()));
      expect(job).toMatchObject({ settings: { rate: 7 } });
      await rewrite(unlocked.jobs, id, ({ settings }) => ({ settings: { ...settings, rate: 3, concurrency: 2 } }));
      world[ends]();
      await clock.advance(3_000);
      expect(await supervisor.jobs().get(id, bound())).toMatchObject({ settings: { rate: 7, concurrency: 2 } });
      expect(JSON.parse((await unlocked.jobs.get(id, bound()))?.document ?? "")).toMatchObject({
        settings: { rate: 7, concurrency: 2 },
      });
      await supervisor.shutdown();
    },
  );
});

describe("interface 4.10.6: what was asked at another instance, and the owner has not heard, is true all the same", () => {
  /** The owner of a job whose store has stood still for it, and not for the instance that has cancelled the job. */
  async function overtaken(): Promise<LockedWorld & { id: string }> {
    const world = await away(REDRIVE, TABLES.jobs);
    const { jobs } = world.unlocked;
    // What is not stored comes after it.
    await timed(world.bridge, world.bridge.supervisor.jobs().change(world.id, { rate: 7 }, bound()));
    await rewrite(jobs, world.id, () => ({ requested: { call: "cancel" } }));
    return world;
  }

  test.each<readonly [string, string, string, (jobs: Jobs, id: string) => Promise<Job>]>([
    ["a change", "ended", ": nothing of it can be changed", (jobs, id) => jobs.change(id, { rate: 9 }, bound())],
    ["a pause", "state", "", (jobs, id) => jobs.ask(id, { call: "pause" }, bound())],
  ])("%s is refused once the store answers the owner", async (_, reason, more, ask) => {
    const { bridge, unlock, id } = await overtaken();
    unlock();
    const [refused] = await timed(bridge, ask(bridge.supervisor.jobs(), id));
    expect(refused).toBeInstanceOf(JobRefusal);
    expect(refused).toMatchObject({ reason, message: `the job is being cancelled${more}` });
    await until(bridge, id, "cancelled");
    await bridge.supervisor.shutdown();
  });
});
