import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { PATIENCE } from "@bridge/tooling/patience";
import { type Clock, systemClock } from "@bridge/ports";
import { sealJob } from "@bridge/ports/internal";
import { expect, test, vi } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { openDlq, scratchFolder } from "./support/scratch-dlq.ts";

const { signal } = new AbortController();
const CANARY = "a canary that sang in the shop";

/** A clock whose hands and ticks the test moves. */
function handClock(): { readonly clock: Clock; readonly tick: () => void; readonly set: (now: number) => void } {
  let now = 1_000_000;
  const ticks: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    now: () => now,
    every(ms, given) {
      if (ms === 60_000) ticks.push(given);
      return { [Symbol.dispose]() {} };
    },
  };
  return { clock, tick: () => ticks.forEach((each) => each()), set: (to) => void (now = to) };
}

test("operators 3.5.7: of what was over its time in the trash nothing is left in the file", async () => {
  using scratch = scratchFolder();
  const { clock, tick, set } = handClock();
  {
    await using store = openDlq(scratch.path, { clock });
    for (let i = 0; i < 300; i++) {
      const canary = deadLetter(`c${i}`, { failedAt: i, lastError: CANARY }, 3_000);
      canary.envelope.payload.set(Buffer.from(CANARY), i * 9);
      await store.put(canary, signal);
      await store.put(deadLetter(`e${i}`, { failedAt: i }, 500), signal);
    }
    const ids = Array.from({ length: 300 }, (_, i) => `c${i}`);
    await store.marks?.mark(new Map([["c7", { note: { at: 1, by: "alice", text: CANARY } }]]), signal);
    expect((await store.admin.trash?.move(ids, "job-1", 1_500_000, signal))?.size).toBe(300);
    tick();
    expect(await store.admin.trash?.count(1_000, signal)).toBe(300);
    set(1_500_000);
    expect(await store.admin.trash?.count(1_000, signal)).toBe(0);
    await store.put(deadLetter("before the sweep"), signal);
    await vi.waitFor(async () => {
      tick();
      await store.put(deadLetter("with the sweep"), signal);
      set(1_000_000);
      const left = await store.admin.trash?.count(1_000, signal);
      set(1_500_000);
      expect(left).toBe(0);
    }, PATIENCE);
    expect(await store.count(1_000, signal)).toBe(302);
  }
  expect(readFileSync(scratch.path).includes(CANARY)).toBe(false);
});

test("what is in the trash goes at the end of the retention that it had in the list", async () => {
  using scratch = scratchFolder();
  const { clock, set } = handClock();
  await using store = openDlq(scratch.path, { clock, retentionMs: 60_000 });
  await store.put(deadLetter("a", { failedAt: 950_000 }), signal);
  await store.admin.trash?.move(["a"], "job-1", 9_000_000, signal);
  set(1_009_999);
  expect(await store.admin.trash?.count(10, signal)).toBe(1);
  set(1_010_000);
  expect(await store.admin.trash?.count(10, signal)).toBe(0);
});

test("operators 3.5.7: what somebody makes of the end of an entry in the trash is held against its job, and against the retention", async () => {
  using scratch = scratchFolder();
  const { clock, tick, set } = handClock();
  const DAY = 86_400_000;
  await using store = openDlq(scratch.path, { clock, retentionMs: 10 * DAY });
  using db = new DatabaseSync(scratch.path);
  const times = { reason: '"undoUntil":1', undoUntil: 1_500_000, undoWithinMs: 500_000, endedAt: 1_000_500 };
  const job = { id: "job-1", revision: 1, state: "completed", createdAt: 1_000_000 };
  await store.jobs?.put({ ...job, document: sealJob(job, JSON.stringify(times)) }, undefined, signal);
  const changed = { undoUntil: 1, endedAt: 1 };
  await store.jobs?.put({ ...job, id: "changed", document: sealJob(job, JSON.stringify(changed)) }, undefined, signal);
  await store.jobs?.put({ ...job, id: "for ever", document: '{"undoUntil":9000000000000000' }, undefined, signal);
  await store.jobs?.put({ ...job, id: "damaged", document: '{"undoUntil":"x"' }, undefined, signal);
  const ids = ["early", "never", "expired", "other", "damaged", "changed", "for ever"];
  for (const id of ids) await store.put(deadLetter(id, { failedAt: 1_000_000 }), signal);
  await store.admin.trash?.move(ids.slice(0, 3), "job-1", 1_500_000, signal);
  await store.admin.trash?.move(["other"], "no job", 1_000_500, signal);
  await store.admin.trash?.move(["damaged"], "damaged", 1_000_500, signal);
  await store.admin.trash?.move(["for ever"], "for ever", 1_000_500, signal);
  // A purge that somebody has made older is damaged, and has the time that stands beside its entries.
  await store.admin.trash?.move(["changed"], "changed", 1_500_400 + DAY, signal);
  for (const [id, until] of Object.entries({ early: 5, never: 9e15, expired: 5 }))
    db.exec(`UPDATE dead_letter_trash SET until = ${until} WHERE id = '${id}'`);
  db.exec(`UPDATE dead_letter_trash SET failed_at = ${-10 * DAY} WHERE id = 'expired'`);
  const left = async (now: number, expected: readonly string[]): Promise<void> => {
    set(now);
    await vi.waitFor(() => {
      tick();
      const rows = db.prepare("SELECT id FROM dead_letter_trash ORDER BY id").all();
      expect(rows.map(({ id }) => id)).toEqual(expected);
    }, PATIENCE);
  };
  await left(1_001_000, ["changed", "early", "never"]);
  expect(await store.admin.trash?.count(9, signal, "job-1")).toBe(2);
  await left(1_500_000, ["changed", "never"]);
  set(1_500_500 + DAY);
  tick();
  await store.put(deadLetter("with the sweep"), signal);
  await left(1_500_500 + DAY, ["never"]);
  await left(1_500_501 + DAY, []);
});

test("at max_bytes what is in the trash counts, and can be brought back; jobs are kept, and a purge without a trash makes room", async () => {
  using scratch = scratchFolder();
  await using store = openDlq(scratch.path, { maxBytes: 1024 * 1024 });
  let put = 0;
  const fill = async (): Promise<void> => {
    for (;;) await store.put(deadLetter(`e${put++}`, { failedAt: put }, 50_000), signal);
  };
  await expect(fill()).rejects.toThrow(/holds max_bytes/);
  const ids = Array.from({ length: 10 }, (_, i) => `e${i}`);
  await store.admin.trash?.move(ids, "job-1", Date.now() + 3_600_000, signal);
  await expect(store.put(deadLetter("more"), signal)).rejects.toThrow(/holds max_bytes/);
  const job = { id: "job-1", revision: 1, state: "running", createdAt: 1, document: "{}" };
  expect(await store.jobs?.put(job, undefined, signal)).toBe(true);
  expect(await store.admin.trash?.restore("job-1", 100, signal)).toEqual({ restored: 10, present: 0 });
  await store.admin.delete(ids, signal);
  await store.put(deadLetter("more"), signal);
});

test("a job without an id that is said to be taken back keeps nothing in the trash", async () => {
  using scratch = scratchFolder();
  const { clock, tick, set } = handClock();
  await using store = openDlq(scratch.path, { clock });
  await store.put(deadLetter("e"), signal);
  await store.admin.trash?.move(["e"], "job-1", 1_500_000, signal);
  using db = new DatabaseSync(scratch.path);
  db.exec("INSERT INTO dead_letter_job VALUES (NULL, 1, 'undoing', 1, '')");
  set(1_500_000);
  await vi.waitFor(() => {
    tick();
    expect(db.prepare("SELECT id FROM dead_letter_trash").all()).toEqual([]);
  }, PATIENCE);
});

test.each(["9223372036854775807", "9e999", "'text'"])(
  "a time in the trash that somebody sets to %s while the file is open keeps nobody from counting, nor from taking back",
  async (until) => {
    using scratch = scratchFolder();
    // So many are counted at a time, and one more.
    const ids = Array.from({ length: 2_001 }, (_, nth) => `e${nth}`);
    {
      await using store = openDlq(scratch.path);
      await Promise.all(ids.map((id) => store.put(deadLetter(id), signal)));
      await store.admin.trash?.move(ids, "job-1", 4_102_444_800_000, signal);
    }
    await using store = openDlq(scratch.path);
    using db = new DatabaseSync(scratch.path);
    db.exec(`UPDATE dead_letter_trash SET until = ${until} WHERE number = 7`);
    expect(await store.admin.trash?.count(9_999, signal, "job-1")).toBe(ids.length);
    expect(await store.admin.trash?.count(9_999, signal)).toBeGreaterThanOrEqual(2_000);
    expect(await store.admin.trash?.restore("job-1", 9, signal)).toEqual({ restored: 9, present: 0 });
  },
);
