import { openMemoryDlq } from "@bridge/dlq-memory";
import { describe, expect, test } from "vitest";
import { BoundingClock } from "../support/bounding-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { AT_ONCE, begun, fill, started, until } from "./job-bridge.ts";
import { lockedWorld, TABLES } from "./locked-dlq.ts";

const ENTRIES = 600;
const REDRIVE = { settings: { ...AT_ONCE, rate: 100 } } as const;
const PURGE = { kind: "purge", undoWithinMs: 3_600_000, settings: { ...AT_ONCE, rate: 100 } } as const;
const STORE_MS = 60_000;
/** What the owner may be late with: it looks once a second. */
const LATE_MS = 3_000;

const LOCKS = [
  { what: "all entries", order: REDRIVE, calls: [...TABLES.entries, ...TABLES.trash] },
  { what: "the pages", order: REDRIVE, calls: ["page"] },
  { what: "single entries", order: REDRIVE, calls: ["get"] },
  { what: "deletions", order: REDRIVE, calls: ["admin.delete"] },
  { what: "the job itself", order: REDRIVE, calls: ["jobs.put"] },
  { what: "all entries", order: PURGE, calls: [...TABLES.entries, ...TABLES.trash] },
  { what: "the pages", order: PURGE, calls: ["page"] },
  { what: "the trash", order: PURGE, calls: TABLES.trash },
  { what: "the job itself", order: PURGE, calls: ["jobs.put"] },
];

describe("interface 2.16: a job halts when its store has answered nothing for a minute of what it waits for", () => {
  test.each(LOCKS.map((lock) => ({ ...lock, kind: "kind" in lock.order ? "purge" : "redrive" })))(
    "$what, of a $kind, which goes on when it is resumed",
    async ({ order, calls }) => {
      const { bridge, lock, unlock } = await lockedWorld(ENTRIES);
      const { clock, supervisor } = bridge;
      const { id } = await begun(bridge, order);
      await until(bridge, id, ({ counts }) => counts.succeeded > 100);
      lock(calls);
      await clock.advance(STORE_MS / 2);
      expect(await supervisor.jobs().get(id, bound())).toMatchObject({
        state: "running",
        waitingFor: expect.stringContaining("answer") as string,
      });
      await clock.advance(STORE_MS / 2 - 5_000);
      expect(await supervisor.jobs().get(id, bound())).toMatchObject({ state: "running" });
      await clock.advance(5_000 + LATE_MS);
      expect(await supervisor.jobs().get(id, bound())).toMatchObject({
        state: "halted",
        halted: { why: "store", error: expect.stringContaining("answer") as string },
      });
      unlock();
      expect((await until(bridge, id, "halted")).waitingFor).toBeUndefined();
      await supervisor.jobs().ask(id, { call: "resume" }, bound());
      const done = await until(bridge, id, "completed");
      expect(done.counts).toMatchObject({ succeeded: ENTRIES, failed: 0, skipped: 0 });
      if (done.kind === "redrive") expect(bridge.hub.channel("out").arrived).toBe(ENTRIES);
      await supervisor.shutdown();
    },
  );

  test("a purge that is resumed while the trash is locked halts, too", async () => {
    const { bridge, lock, unlock } = await lockedWorld(ENTRIES);
    const { clock, supervisor } = bridge;
    const { id } = await begun(bridge, PURGE);
    await until(bridge, id, ({ counts }) => counts.succeeded > 100);
    await supervisor.jobs().ask(id, { call: "pause" }, bound());
    await until(bridge, id, "paused");
    lock(TABLES.trash);
    await supervisor.jobs().ask(id, { call: "resume" }, bound());
    await clock.advance(STORE_MS + LATE_MS);
    expect(await supervisor.jobs().get(id, bound())).toMatchObject({ state: "halted", halted: { why: "store" } });
    unlock();
    await until(bridge, id, "halted");
    await supervisor.shutdown();
  });

  test("a purge whose store takes ten entries at once and no more, in 15 s, does not", async () => {
    const clock = new BoundingClock();
    const dlq = openMemoryDlq({ maxEntries: 10_000, clock });
    const { admin } = dlq;
    const move: typeof admin.trash.move = async (ids, ...given) => {
      await clock.delay(ids.length > 10 ? STORE_MS : 15_000, given[2]);
      return admin.trash.move(ids, ...given);
    };
    const bridge = await started({ clock, dlq: { ...dlq, admin: { ...admin, trash: { ...admin.trash, move } } } });
    await fill(dlq, 40);
    const { id } = await begun(bridge, { ...PURGE, settings: AT_ONCE });
    expect((await until(bridge, id, "completed")).counts).toMatchObject({ succeeded: 40, skipped: 0 });
    await bridge.supervisor.shutdown();
  });
});

test("interface 2.16: an undo whose store takes nothing says what it waits for, and goes on by itself", async () => {
  const { bridge, lock, unlock } = await lockedWorld(ENTRIES);
  const { clock, supervisor } = bridge;
  const { id } = await begun(bridge, { ...PURGE, settings: AT_ONCE });
  await until(bridge, id, "completed");
  lock([...TABLES.entries, ...TABLES.trash]);
  await supervisor.jobs().ask(id, { call: "undo" }, bound());
  for (const ms of [5_000, 60_000, 120_000]) {
    await clock.advance(ms);
    expect(await supervisor.jobs().get(id, bound())).toMatchObject({
      state: "undoing",
      waitingFor: expect.stringContaining("answer") as string,
    });
  }
  unlock();
  const undone = await until(bridge, id, "undone");
  expect(undone).toMatchObject({ counts: { restored: ENTRIES } });
  expect(undone.waitingFor).toBeUndefined();
  await supervisor.shutdown();
});

describe("operating: what was delivered and is not stored is that of the last two seconds", () => {
  test("a redrive whose store does not take the job sends nothing more, and goes on by itself when it does", async () => {
    const { bridge, lock, unlock } = await lockedWorld(ENTRIES);
    const { clock, supervisor, dlq, hub } = bridge;
    const { id } = await begun(bridge, REDRIVE);
    await until(bridge, id, ({ counts }) => counts.succeeded > 100);
    lock(["jobs.put"]);
    await clock.advance(30_000);
    const kept = JSON.parse((await dlq.jobs?.get(id, bound()))?.document ?? "") as { counts: { succeeded: number } };
    expect(hub.channel("out").arrived - kept.counts.succeeded).toBeLessThanOrEqual(200);
    const before = hub.channel("out").arrived;
    await clock.advance(5_000);
    expect(hub.channel("out").arrived).toBe(before);
    unlock();
    expect((await until(bridge, id, "completed")).counts).toMatchObject({ succeeded: ENTRIES, skipped: 0 });
    expect(hub.channel("out").arrived).toBe(ENTRIES);
    await supervisor.shutdown();
  });
});
