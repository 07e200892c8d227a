import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DlqStore, type Processor } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { BoundingClock } from "../support/bounding-clock.ts";
import { bound, type MemoryBridge, refusal } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, orderOf, started, stored, until } from "./job-bridge.ts";
import { seenDlq } from "./seen-dlq.ts";

const ENTRIES = 60;
const IN_FLIGHT = 8;
const SETTINGS = { ...AT_ONCE, rate: 100, concurrency: IN_FLIGHT };
const STORE_MS = 60_000;

const NO_MARKS = ["marks.mark", "put"];

type Refuser = "processor" | "target";
const REFUSERS: readonly Refuser[] = ["processor", "target"];

interface World {
  readonly bridge: MemoryBridge;
  /** Calls that the store refuses; jobs it takes all the while, as a file with a reserve does. */
  readonly full: Set<string>;
  /** By whom: a processor, before anything is sent, or the target. */
  readonly by: Refuser;
  isRefused: boolean;
  /** After so many sends the target refuses all, and the store takes no marks. */
  fillsAfter: number;
  readonly sent: Map<string, number>;
}

async function world(by: Refuser = "target"): Promise<World> {
  const clock = new BoundingClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  const full = new Set<string>();
  const store = seenDlq(dlq, (name) => {
    if (full.has(name)) throw new BridgeError("UNAVAILABLE", "the disk is full");
  });
  const sent = new Map<string, number>();
  const target: Processor = {
    async process(envelope) {
      sent.set(envelope.subject, (sent.get(envelope.subject) ?? 0) + 1);
      if (--made.fillsAfter === 0) {
        for (const call of NO_MARKS) full.add(call);
        made.isRefused = true;
      }
      if (made.isRefused && by === "processor") throw refusal;
      if (made.isRefused) bridge.hub.channel("out").sends.failNext(1, refusal);
      return { kind: "pass", envelope };
    },
  };
  const bridge = await started({ clock, dlq: store, processors: [target] });
  const made: World = { bridge, by, full, isRefused: false, fillsAfter: Number.POSITIVE_INFINITY, sent };
  await fill(dlq, ENTRIES);
  return made;
}

/** What the target was sent is in doubt, what never came to it is not. */
function doubtful({ by }: World): number {
  return by === "target" ? IN_FLIGHT : 0;
}

/** All that may be in flight has failed, and its marks are not taken. */
async function unmarked(at: World): Promise<string> {
  const { bridge, sent } = at;
  const jobs = bridge.supervisor.jobs();
  const { job } = await jobs.plan(orderOf({ settings: SETTINGS }), bound());
  const { id } = job;
  // The plan has taken each of them through the processor.
  sent.clear();
  at.fillsAfter = 10;
  await jobs.start(id, { planHash: job.plan.hash }, bound());
  await until(bridge, id, ({ inFlight }) => inFlight === IN_FLIGHT);
  return id;
}

/** What was not marked is sent again under its envelope id, and all is told for what it is. */
async function resumed(at: World, id: string, retryFailed: boolean): Promise<void> {
  const { bridge, full, sent } = at;
  at.isRefused = false;
  full.clear();
  const before = await bridge.supervisor.jobs().get(id, bound());
  await bridge.supervisor.jobs().ask(id, { call: "resume", ...(retryFailed && { retryFailed }) }, bound());
  const done = await until(bridge, id, "completed");
  expect(done.counts).toMatchObject({ succeeded: ENTRIES, failed: 0, skipped: 0 });
  expect(before.counts.inDoubt).toBe(doubtful(at));
  expect([...sent.values()].filter((times) => times > 1)).toHaveLength(IN_FLIGHT);
  expect(bridge.hub.channel("out").arrived).toBe(ENTRIES);
  expect(await stored(bridge.dlq)).toEqual([]);
  await bridge.supervisor.shutdown();
}

describe("runbook halted-job: the DLQ store took no writes for a minute", () => {
  test.each(REFUSERS)("a redrive whose failures at its %s cannot be marked halts, and nothing is lost", async (by) => {
    const at = await world(by);
    const id = await unmarked(at);
    const { clock } = at.bridge;
    await clock.advance(STORE_MS - 2_000);
    expect(await at.bridge.supervisor.jobs().get(id, bound())).toMatchObject({ state: "running" });
    await clock.advance(4_000);
    const halted = await until(at.bridge, id, "halted");
    expect(halted.halted).toMatchObject({ why: "store", error: "the disk is full" });
    expect(halted).toMatchObject({ inFlight: 0, counts: { failed: 0, inDoubt: doubtful(at) } });
    expect(at.bridge.supervisor.stats().jobs.halts).toContainEqual({ why: "store", count: 1 });
    await resumed(at, id, false);
  });

  test("one whose store takes the marks again within a minute goes on", async () => {
    const at = await world();
    const id = await unmarked(at);
    await at.bridge.clock.advance(STORE_MS - 5_000);
    at.full.clear();
    const done = await until(at.bridge, id, "completed");
    expect(done.counts).toMatchObject({ failed: ENTRIES - 9, succeeded: 9, inDoubt: 0 });
    expect([...at.sent.values()].filter((times) => times > 1)).toEqual([]);
    await at.bridge.supervisor.shutdown();
  });

  test("a job halts whose store does not take it either, which is told where it is worked on", async () => {
    const at = await world();
    const { clock, supervisor, dlq } = at.bridge;
    const jobs = supervisor.jobs();
    const { id } = await begun(at.bridge, { settings: { ...SETTINGS, rate: 0.1 } });
    await until(at.bridge, id, ({ owner }) => owner !== undefined);
    at.full.add("jobs.put");
    await clock.advance(STORE_MS + 3_000);
    const halted = { state: "halted", halted: { why: "store", error: "the disk is full" } };
    expect(await jobs.get(id, bound())).toMatchObject(halted);
    const { jobs: listed } = await jobs.list({ states: "active", limit: 10 }, bound());
    expect(listed).toMatchObject([{ id, ...halted }]);
    expect((await dlq.jobs?.get(id, bound()))?.state).toBe("running");
    at.full.clear();
    expect(await until(at.bridge, id, "halted")).toMatchObject(halted);
    expect((await dlq.jobs?.get(id, bound()))?.state).toBe("halted");
    await jobs.change(id, { rate: 100 }, bound());
    await jobs.ask(id, { call: "resume" }, bound());
    expect((await until(at.bridge, id, "completed")).counts).toMatchObject({ succeeded: ENTRIES });
    await supervisor.shutdown();
  });

  test("a redrive halts whose store deletes nothing of what it delivers", async () => {
    const at = await world();
    at.full.add("admin.delete");
    const { id } = await begun(at.bridge, { settings: SETTINGS });
    const halted = await until(at.bridge, id, "halted");
    expect(halted.halted).toMatchObject({ why: "store", error: "the disk is full" });
    expect(at.bridge.hub.channel("out").arrived).toBeLessThanOrEqual(IN_FLIGHT);
    at.full.clear();
    await at.bridge.supervisor.jobs().ask(id, { call: "resume" }, bound());
    expect((await until(at.bridge, id, "completed")).counts).toMatchObject({ failed: 0, skipped: 0 });
    // This process knows what it has delivered.
    expect(at.bridge.hub.channel("out").arrived).toBe(ENTRIES);
    await at.bridge.supervisor.shutdown();
  });

  test.each([3_600_000, 0])(
    "a purge halts whose store moves or deletes nothing (undo within %s ms)",
    async (undoWithinMs) => {
      const at = await world();
      for (const call of ["admin.trash.move", "admin.delete"]) at.full.add(call);
      const { id } = await begun(at.bridge, { kind: "purge", undoWithinMs });
      const halted = await until(at.bridge, id, "halted");
      expect(halted.halted).toMatchObject({ why: "store", error: "the disk is full" });
      at.full.clear();
      await at.bridge.supervisor.jobs().ask(id, { call: "resume" }, bound());
      expect((await until(at.bridge, id, "completed")).counts).toMatchObject({ succeeded: ENTRIES, skipped: 0 });
      await at.bridge.supervisor.shutdown();
    },
  );
});

describe("interface 4.10.6: a job stands still although the store takes no marks of what has failed", () => {
  const CALLS = [
    { call: "pause", state: "paused" },
    { call: "cancel", state: "cancelled" },
  ] as const;

  test.each(
    CALLS.flatMap((call) => REFUSERS.flatMap((by) => [0, 45_000].map((afterMs) => ({ ...call, by, afterMs })))),
  )(
    "$call, asked for $afterMs ms after its store is full; refused by the $by",
    async ({ call, state, by, afterMs }) => {
      const at = await world(by);
      const id = await unmarked(at);
      const { clock, supervisor } = at.bridge;
      await clock.advance(afterMs);
      const askedAt = clock.now();
      await supervisor.jobs().ask(id, { call }, bound());
      const { counts } = await until(at.bridge, id, state);
      expect(clock.now() - askedAt).toBeLessThanOrEqual(10_000);
      expect(counts).toMatchObject({ failed: 0, inDoubt: doubtful(at) });
      expect(await stored(at.bridge.dlq)).toHaveLength(ENTRIES - counts.succeeded);
      if (call === "pause") await resumed(at, id, true);
      else await at.bridge.supervisor.shutdown();
    },
  );

  test("and is given out of hand at a shutdown, with what was sent in doubt", async () => {
    const at = await world();
    const id = await unmarked(at);
    const { clock, supervisor } = at.bridge;
    await clock.advance(10_000);
    let isDown = false;
    void supervisor.shutdown().finally(() => (isDown = true));
    await clock.until(() => isDown);
    const { dlq } = at.bridge;
    at.full.clear();
    at.isRefused = false;
    const next = await started({ clock: at.bridge.clock, dlq });
    const done = await until(next, id, "completed");
    expect(done.counts).toMatchObject({ succeeded: ENTRIES, failed: 0, skipped: 0, inDoubt: IN_FLIGHT });
    await next.supervisor.shutdown();
  });
});

test("operators 3.5.3: an owner gives its sign of life while its store says nothing of what waits in an outbox", async () => {
  const clock = new BoundingClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  let isSilent = false;
  const get: DlqStore["get"] = (...given) => (isSilent ? new Promise(() => {}) : dlq.get(...given));
  const deliveryMode = "shared_outbox";
  const bridge = await started({ clock, dlq: { ...dlq, get }, deliveryMode, policy: { sendTimeoutMs: 1e9 } });
  await fill(dlq, 4);
  const { sends } = bridge.hub.channel("out");
  const hold = sends.hold();
  const { id } = await begun(bridge, { settings: { ...SETTINGS, concurrency: 4 } });
  await until(bridge, id, ({ pending }) => pending.length === 4);
  isSilent = true;
  await clock.advance(5_000);
  const before = await dlq.jobs.get(id, bound());
  await clock.advance(5_000);
  const after = await dlq.jobs.get(id, bound());
  expect((after?.revision ?? 0) - (before?.revision ?? 0)).toBeGreaterThanOrEqual(4);
  isSilent = false;
  hold[Symbol.dispose]();
  await until(bridge, id, "completed");
  await bridge.supervisor.shutdown();
});
