import { openMemoryDlq } from "@bridge/dlq-memory";
import { BridgeError, type DeadLetterPage, type DlqStore } from "@bridge/ports";
import { RecentFacets } from "@bridge/ports/internal";
import { describe, expect, test } from "vitest";
import { progressOf } from "../../src/dlq-job/progress.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, type MemoryBridge } from "../support/memory-bridge.ts";
import type { Job } from "../../src/dlq-job/job.ts";
import type { JobOrder } from "../../src/dlq-job/jobs.ts";
import { AT_ONCE, begun, entryOf, fill, orderOf, started, stored, until } from "./job-bridge.ts";

/** The trash goes by the clock of the bridge. */
/** Its store keeps what it has counted for `keptMs`. */
async function withTrash(keptMs = 0): Promise<MemoryBridge> {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  const recent = new RecentFacets(keptMs, clock);
  const facets: DlqStore["facets"] = (request, signal) =>
    recent.get(
      request,
      async () => {
        if (dlq.facets === undefined) throw new Error("it counts no groups");
        return dlq.facets(request, signal);
      },
      signal,
    );
  return started({ clock, dlq: { ...dlq, facets, [Symbol.asyncDispose]: () => dlq[Symbol.asyncDispose]() } });
}

const PURGE = { kind: "purge", undoWithinMs: 3_600_000, settings: { ...AT_ONCE, rate: 5_000 } } as const;

describe("a purge job", () => {
  test("moves its set into the trash, quarantined entries too, and an undo gives all of it back as it was", async () => {
    const bridge = await withTrash();
    const { supervisor, dlq } = bridge;
    await fill(dlq, 900);
    await dlq.marks?.mark(new Map([["e00003", { quarantined: true, assignee: "alice" }]]), bound());
    const before = await stored(dlq);
    const entry = await dlq.get("e00003", bound());
    const job = await begun(bridge, PURGE);
    expect(job.plan.warnings).toContain("1 are quarantined, and are purged all the same");
    expect(await until(bridge, job.id, "completed")).toMatchObject({
      counts: { succeeded: 900, skipped: 0 },
      total: 900,
    });
    expect(await stored(dlq)).toEqual([]);
    await supervisor.jobs().ask(job.id, { call: "undo" }, bound());
    expect((await until(bridge, job.id, "undone")).counts).toMatchObject({ restored: 900 });
    expect(await stored(dlq)).toEqual(before);
    expect(await dlq.get("e00003", bound())).toEqual(entry);
    await supervisor.shutdown();
  });

  test("needs no runtime, and leaves what does not match", async () => {
    const bridge = await withTrash();
    const { supervisor, dlq } = bridge;
    await fill(dlq, 40, (nth) => (nth % 2 === 0 ? { routeId: "other" } : {}));
    await supervisor.stop(bound());
    const job = await begun(bridge, { ...PURGE, query: { routeId: "other" }, limit: 15 });
    expect((await until(bridge, job.id, "completed")).counts).toMatchObject({ succeeded: 15 });
    expect(await stored(dlq)).toHaveLength(25);
    await supervisor.shutdown();
  });

  test("goes at its rate, can be paused in the middle, and cancelled keeps what was done, which can be taken back", async () => {
    const bridge = await withTrash();
    const { supervisor, dlq, clock } = bridge;
    await fill(dlq, 100);
    const job = await begun(bridge, { ...PURGE, settings: { ...AT_ONCE, rate: 10 } });
    await clock.advance(3_000);
    await supervisor.jobs().ask(job.id, { call: "pause" }, bound());
    const { counts } = await until(bridge, job.id, "paused");
    expect(counts.succeeded).toBeGreaterThanOrEqual(20);
    expect(counts.succeeded).toBeLessThanOrEqual(50);
    await supervisor.jobs().ask(job.id, { call: "cancel" }, bound());
    await until(bridge, job.id, "cancelled");
    await supervisor.jobs().ask(job.id, { call: "undo" }, bound());
    expect((await until(bridge, job.id, "undone")).counts.restored).toBe(counts.succeeded);
    expect(await stored(dlq)).toHaveLength(100);
    await supervisor.shutdown();
  });
});

test("operators 3.1: an undo takes back all that was purged, also when the index of the trash lags behind", async () => {
  const clock = new FakeClock();
  const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
  let isLagging = false;
  const { trash } = dlq.admin;
  const restore: typeof trash.restore = async (batch, limit, signal) =>
    isLagging ? { restored: 0, present: 0 } : trash.restore(batch, Math.min(limit, 200), signal);
  const bridge = await started({ clock, dlq: { ...dlq, admin: { ...dlq.admin, trash: { ...trash, restore } } } });
  const { supervisor } = bridge;
  await fill(dlq, 600);
  const job = await begun(bridge, PURGE);
  await until(bridge, job.id, "completed");
  isLagging = true;
  await supervisor.jobs().ask(job.id, { call: "undo" }, bound());
  await clock.advance(5_000);
  expect(await supervisor.jobs().get(job.id, bound())).toMatchObject({ state: "undoing", counts: { restored: 0 } });
  isLagging = false;
  expect((await until(bridge, job.id, "undone")).counts).toMatchObject({ restored: 600 });
  expect(await stored(dlq)).toHaveLength(600);
  await supervisor.shutdown();
});

test("spec 4.10.5: an undo tells how many it has restored and how many were there again, which get the marks", async () => {
  const bridge = await withTrash();
  const { supervisor, dlq } = bridge;
  await fill(dlq, 700);
  await dlq.marks?.mark(new Map([["e00003", { quarantined: true, assignee: "alice" }]]), bound());
  const job = await begun(bridge, PURGE);
  await until(bridge, job.id, "completed");
  await fill(dlq, 40);
  await dlq.marks?.mark(new Map([["e00003", { assignee: "bob" }]]), bound());
  await supervisor.jobs().ask(job.id, { call: "undo" }, bound());
  const undone = await until(bridge, job.id, "undone");
  expect(undone.counts).toMatchObject({ succeeded: 700, restored: 660, present: 40 });
  expect(progressOf(undone)).toMatchObject({ restored: 660, present: 40 });
  const told = supervisor.stats().jobs.entries.filter(({ kind }) => kind === "purge");
  expect(told).toContainEqual({ kind: "purge", outcome: "restored", count: 660 });
  expect(told).toContainEqual({ kind: "purge", outcome: "present", count: 40 });
  expect((await dlq.get("e00003", bound()))?.marks).toEqual({ quarantined: true, assignee: "bob" });
  expect(await stored(dlq)).toHaveLength(700);
  await supervisor.shutdown();
});

describe("operators 3.3: of a store that does the work and whose answers are lost", () => {
  /** Of each call a part is done and nothing is said, as often as `isLost`. */
  async function forgetful(isLost: () => boolean): Promise<MemoryBridge> {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
    const { admin } = dlq;
    const lost = (): never => {
      throw new BridgeError("TIMEOUT", "no answer in time");
    };
    const move: typeof admin.trash.move = async (ids, batch, end, signal) => {
      if (!isLost()) return admin.trash.move(ids, batch, end, signal);
      await admin.trash.move(ids.slice(0, Math.ceil(ids.length * 0.7)), batch, end, signal);
      return lost();
    };
    const remove: typeof admin.delete = async (ids, signal) => {
      if (!isLost()) return admin.delete(ids, signal);
      await admin.delete(ids.slice(0, Math.ceil(ids.length * 0.7)), signal);
      return lost();
    };
    const restore: typeof admin.trash.restore = async (batch, limit, signal) => {
      if (!isLost()) return admin.trash.restore(batch, limit, signal);
      await admin.trash.restore(batch, Math.ceil(limit * 0.7), signal);
      return lost();
    };
    return started({
      clock,
      dlq: { ...dlq, admin: { ...admin, delete: remove, trash: { ...admin.trash, move, restore } } },
    });
  }

  test.each([0.3, 0.7, 0.95])(
    "%f of them: a purge and its undo count what they did, and go on meanwhile",
    async (ratio) => {
      let [calls, isBad] = [0, true];
      const bridge = await forgetful(() => isBad && Math.floor(++calls * ratio) > Math.floor((calls - 1) * ratio));
      const { supervisor, dlq } = bridge;
      await fill(dlq, 900, (nth) => (nth % 3 === 0 ? { routeId: "other" } : {}));
      const job = await begun(bridge, PURGE);
      const purged = await until(bridge, job.id, "completed");
      expect(purged).toMatchObject({ total: 900, counts: { succeeded: 900, skipped: 0 } });
      expect(purged.lanes.map(({ done }) => done).toSorted((a, b) => a - b)).toEqual([300, 600]);
      await supervisor.jobs().ask(job.id, { call: "undo" }, bound());
      await until(bridge, job.id, ({ counts }) => counts.restored > 0 && counts.restored < 900);
      expect((await until(bridge, job.id, "undone")).counts).toMatchObject({ succeeded: 900, restored: 900 });
      const told = supervisor.stats().jobs.entries.filter(({ kind, count }) => kind === "purge" && count > 0);
      expect(told.toSorted((a, b) => a.outcome.localeCompare(b.outcome))).toEqual([
        { kind: "purge", outcome: "restored", count: 900 },
        { kind: "purge", outcome: "succeeded", count: 900 },
      ]);
      isBad = false;
      expect(await stored(dlq)).toHaveLength(900);
      await supervisor.shutdown();
    },
  );

  test("what it erases at once is counted, too, and what others delete meanwhile is not", async () => {
    let calls = 0;
    const bridge = await forgetful(() => ++calls % 3 !== 0);
    const { supervisor, dlq, clock } = bridge;
    await fill(dlq, 600);
    const job = await begun(bridge, { ...PURGE, undoWithinMs: 0, settings: { ...AT_ONCE, rate: 100 } });
    await clock.advance(1_000);
    calls = 2;
    await dlq.admin?.delete(["e00590", "e00591", "e00592"], bound());
    expect(await until(bridge, job.id, "completed")).toMatchObject({
      total: 600,
      counts: { succeeded: 597, skipped: 3 },
    });
    await supervisor.shutdown();
  });

  test("what an owner has moved that was killed before it could tell is counted by the next one", async () => {
    const bridge = await withTrash();
    const { supervisor, dlq } = bridge;
    await fill(dlq, 300);
    const jobs = supervisor.jobs();
    const { job } = await jobs.plan(orderOf(PURGE), bound());
    const ids = (await stored(dlq)).slice(0, 120);
    await dlq.admin?.trash?.move(ids, job.id, bridge.clock.now() + 3_600_000, bound());
    await jobs.start(job.id, { planHash: job.plan.hash }, bound());
    expect((await until(bridge, job.id, "completed")).counts).toMatchObject({ succeeded: 300, skipped: 0 });
    await supervisor.shutdown();
  });
});

describe("operators 3.1: an owner was killed before it could tell what it has moved", () => {
  /** A purge of 300 entries, of which a former owner has moved 120; the next one begins. */
  async function takenOver(bridge: MemoryBridge, meanwhile: (createdAt: number) => Promise<void>): Promise<Job> {
    const { supervisor, dlq, clock } = bridge;
    await clock.advance(1_000_000);
    await fill(dlq, 300, (nth) => ({ failedAt: clock.now() - 1_000 + nth }));
    const { job } = await supervisor.jobs().plan(orderOf(PURGE), bound());
    const ids = (await stored(dlq)).toSorted().slice(0, 120);
    await dlq.admin?.trash?.move(ids, job.id, clock.now() + 3_600_000, bound());
    await meanwhile(job.createdAt);
    await supervisor.jobs().start(job.id, { planHash: job.plan.hash }, bound());
    return until(bridge, job.id, "completed");
  }

  test("the next one takes no more than the plan has shown, whatever has joined its set", async () => {
    const bridge = await withTrash();
    const { counts } = await takenOver(bridge, async (createdAt) => {
      for (let nth = 300; nth < 360; nth++) await bridge.dlq.put(entryOf(nth, { failedAt: createdAt - 1 }), bound());
    });
    expect(counts).toMatchObject({ succeeded: 300, skipped: 0 });
    expect(await stored(bridge.dlq)).toHaveLength(60);
    await bridge.supervisor.shutdown();
  });

  test("an index that still shows what was moved keeps it from none of the others", async () => {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
    let shown: DeadLetterPage | undefined;
    const page: DlqStore["page"] = async (query, request, signal) => {
      const now = await dlq.page(query, request, signal);
      return request.after === undefined ? (shown ??= now) : now;
    };
    const bridge = await started({
      clock,
      dlq: { ...dlq, page, [Symbol.asyncDispose]: () => dlq[Symbol.asyncDispose]() },
    });
    const { counts } = await takenOver(bridge, async () => {});
    expect(counts).toMatchObject({ succeeded: 300, skipped: 0 });
    expect([shown?.entries.length, await stored(dlq)]).toEqual([300, []]);
    await bridge.supervisor.shutdown();
  });
});

describe("operators 3.1: clocks of instances differ", () => {
  test("an undo that comes too late tells by which clock", async () => {
    const bridge = await withTrash();
    const { supervisor, dlq, clock } = bridge;
    await clock.advance(1_000_000);
    await fill(dlq, 5);
    const { id, undoUntil = 0 } = await begun(bridge, PURGE);
    await until(bridge, id, "completed");
    clock.skip(3_600_000);
    await expect(supervisor.jobs().ask(id, { call: "undo" }, bound())).rejects.toMatchObject({
      reason: "too_late",
      message: `undo_within ended at ${new Date(undoUntil).toISOString()} by this instance's clock`,
    });
    await supervisor.shutdown();
  });

  test("what failed after the plan and joins its set is no more than the plan has shown", async () => {
    const bridge = await withTrash();
    const { supervisor, dlq, clock } = bridge;
    await clock.advance(1_000_000);
    await fill(dlq, 200, (nth) => ({ failedAt: clock.now() - 1_000 + nth }));
    const job = await begun(bridge, { ...PURGE, settings: { ...AT_ONCE, rate: 10 } });
    await clock.advance(2_000);
    // By a clock that is behind.
    for (let nth = 300; nth < 360; nth++) await dlq.put(entryOf(nth, { failedAt: job.createdAt - 1 }), bound());
    expect(await until(bridge, job.id, "completed")).toMatchObject({
      total: 200,
      counts: { succeeded: 200, skipped: 0 },
    });
    expect(await stored(dlq)).toHaveLength(60);
    await supervisor.shutdown();
  });

  test.each([
    ["counts", 0],
    ["keeps its counts for a minute", 60_000],
  ])(
    "a purge that would take more by its start than its plan showed has to be planned again (the store %s)",
    async (_, keptMs) => {
      const bridge = await withTrash(keptMs);
      const { supervisor, dlq, clock } = bridge;
      await clock.advance(1_000_000);
      await fill(dlq, 20, (nth) => ({ failedAt: 1_000 + nth }));
      const jobs = supervisor.jobs();
      const { job } = await jobs.plan(orderOf(PURGE), bound());
      await dlq.put(entryOf(99, { failedAt: 5_000 }), bound());
      await expect(jobs.start(job.id, { planHash: job.plan.hash }, bound())).rejects.toMatchObject({
        reason: "plan_changed",
        message: "the plan showed 20 entries and 21 match by now: plan it again",
      });
      // As many, and not those that the plan has shown.
      const older = entryOf(98, { failedAt: 1 });
      await dlq.admin?.delete(["e00001", "e00099"], bound());
      await dlq.put(older, bound());
      await expect(jobs.start(job.id, { planHash: job.plan.hash }, bound())).rejects.toMatchObject({
        reason: "plan_changed",
        message: "entries match by now that failed before the oldest one of the plan: plan it again",
      });
      await dlq.admin?.delete([older.id, "e00002"], bound());
      expect((await jobs.start(job.id, { planHash: job.plan.hash }, bound())).state).toBe("running");
      expect((await until(bridge, job.id, "completed")).counts).toMatchObject({ succeeded: 18 });
      await supervisor.shutdown();
    },
  );

  test.each(["purge", "redrive"] as const)(
    "a plan of a %s tells what failed by a clock that is ahead",
    async (kind) => {
      const bridge = await withTrash();
      const { supervisor, dlq, clock } = bridge;
      await clock.advance(1_000_000);
      const planned = async (order: Partial<JobOrder> = {}) =>
        (await supervisor.jobs().plan(orderOf({ kind, ...order }), bound())).job.plan;
      await fill(dlq, 5, (nth) => ({ failedAt: clock.now() + 420_000 + nth }));
      expect(await planned()).toMatchObject({
        total: 0,
        warnings: ["5 failed later than the clock of this instance says: clocks differ, and these are not in the plan"],
      });
      expect((await planned({ query: { routeId: "other" } })).warnings).toEqual([]);
      expect((await planned({ query: { before: clock.now() } })).warnings).toEqual([]);
      await fill(dlq, 150, (nth) => ({ failedAt: clock.now() + 420_000 + nth, id: `f${nth}` }));
      expect((await planned()).warnings.join()).toContain("100 or more failed later");
      await supervisor.shutdown();
    },
  );
});

describe("a plan", () => {
  test("is over after an hour, for whoever looks and whoever starts", async () => {
    const bridge = await started();
    const { supervisor, dlq, clock } = bridge;
    await fill(dlq, 2);
    const { job } = await supervisor.jobs().plan(orderOf(), bound());
    clock.skip(3_600_000);
    expect((await supervisor.jobs().get(job.id, bound())).state).toBe("expired");
    await expect(supervisor.jobs().start(job.id, { planHash: job.plan.hash }, bound())).rejects.toThrow(
      "the job is expired",
    );
    await supervisor.shutdown();
  });
});

test("of jobs of one route that are started at once, one is, and the others are told that the route is busy", async () => {
  const bridge = await withTrash();
  await fill(bridge.dlq, 50);
  const jobs = bridge.supervisor.jobs();
  const slow = { ...PURGE, settings: { ...PURGE.settings, rate: 0.1 } };
  const planned = await Promise.all(Array.from({ length: 5 }, () => jobs.plan(orderOf(slow), bound())));
  const starts = await Promise.allSettled(
    planned.map(({ job }) => jobs.start(job.id, { planHash: job.plan.hash }, bound())),
  );
  expect(starts.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const start of starts)
    if (start.status === "rejected") expect(start.reason).toMatchObject({ reason: "route_busy" });
  await bridge.supervisor.shutdown();
});

test("an entry that is being redriven is left to that: an undo does not bring back what is delivered", async () => {
  const bridge = await withTrash();
  const { hub, supervisor, dlq, clock } = bridge;
  await fill(dlq, 3);
  const held = hub.channel("out").sends.hold();
  const redriven = supervisor.redriveEntry("e00001", {}, bound());
  await clock.until(() => hub.channel("out").sends.held === 1);
  const job = await begun(bridge, PURGE);
  const purged = await until(bridge, job.id, "completed");
  expect(purged.counts).toMatchObject({ succeeded: 2, skipped: 1 });
  held[Symbol.dispose]();
  expect(await redriven).toMatchObject({ kind: "redriven" });
  await supervisor.jobs().ask(job.id, { call: "undo" }, bound());
  await until(bridge, job.id, "undone");
  expect(await stored(dlq)).toEqual(["e00000", "e00002"]);
  await supervisor.shutdown();
});

describe("spec 4.10.5: what is delivered after a purge of another instance has taken its entry does not come back", () => {
  test.each(["direct_hold", "shared_outbox"] as const)("of a redrive that is under way (%s)", async (deliveryMode) => {
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 100, clock });
    const { hub, supervisor } = await started({ clock, dlq, deliveryMode });
    await fill(dlq, 3);
    const held = hub.channel("out").sends.hold();
    const redriven = supervisor.redriveEntry("e00001", {}, bound());
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    await dlq.admin.trash.move(["e00000", "e00001"], "purge", clock.now() + 3_600_000, bound());
    held[Symbol.dispose]();
    // Whoever purges it was faster.
    expect(await redriven).toMatchObject({ kind: "busy", envelopeId: expect.any(String) as string });
    expect(await dlq.admin.trash.restore("purge", 10, bound())).toEqual({ restored: 1, present: 0 });
    expect(await stored(dlq)).toEqual(["e00000", "e00002"]);
    await supervisor.shutdown();
  });

  test("of records that waited in the outbox", async () => {
    // A stop is bounded by the machine's time, in which any amount of the bridge's may pass.
    const clock = new FakeClock();
    const dlq = openMemoryDlq({ maxEntries: 100, clock });
    const bridge = await started({ clock, dlq, deliveryMode: "shared_outbox", policy: { sendTimeoutMs: 1e9 } });
    const { hub, supervisor } = bridge;
    await fill(dlq, 5);
    const held = hub.channel("out").sends.hold();
    const job = await begun(bridge, { settings: { ...AT_ONCE, concurrency: 2 } });
    await hub.channel("out").until((channel) => channel.sends.held === 2, bound());
    const stopping = supervisor.stop(bound());
    await until(bridge, job.id, "waiting");
    await dlq.admin.trash.move(["e00000", "e00001", "e00002"], "purge", clock.now() + 3_600_000, bound());
    held[Symbol.dispose]();
    await stopping;
    await supervisor.start(bound());
    await until(bridge, job.id, "completed");
    expect(await dlq.admin.trash.restore("purge", 10, bound())).toEqual({ restored: 1, present: 0 });
    expect(await stored(dlq)).toEqual(["e00002"]);
    await supervisor.shutdown();
  });
});

describe("spec 4.10.5: an undo says what it has not brought back", () => {
  test("some of it was delivered meanwhile: it is counted, and told as an error", async () => {
    const bridge = await withTrash();
    const { supervisor, dlq } = bridge;
    await fill(dlq, 5);
    const { id } = await begun(bridge, PURGE);
    await until(bridge, id, "completed");
    await dlq.admin?.delete(["e00001", "e00003"], bound(), { delivered: true });
    await supervisor.jobs().ask(id, { call: "undo" }, bound());
    const undone = await until(bridge, id, "undone");
    expect(progressOf(undone)).toMatchObject({ succeeded: 5, restored: 3, present: 0, gone: 2 });
    expect(undone.errors).toMatchObject([
      { count: 2, error: expect.stringContaining("delivered meanwhile") as string },
    ]);
    await supervisor.shutdown();
  });

  test("none of it is there any more: the undo comes too late", async () => {
    const bridge = await withTrash();
    const { supervisor, dlq, clock } = bridge;
    await fill(dlq, 2);
    const { id } = await begun(bridge, PURGE);
    await until(bridge, id, "completed");
    await dlq.admin?.delete(["e00000", "e00001"], bound(), { delivered: true });
    await clock.advance(60_000);
    await expect(supervisor.jobs().ask(id, { call: "undo" }, bound())).rejects.toMatchObject({
      reason: "too_late",
      message: expect.stringContaining("none of the entries is in the trash") as string,
    });
    expect((await supervisor.jobs().get(id, bound())).state).toBe("completed");
    await supervisor.shutdown();
  });
});
