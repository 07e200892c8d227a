import { expect, test } from "vitest";
import { DeliveredEntries } from "../../src/dlq/delivered-entries.ts";
import { entryOf } from "../dlq-job/job-bridge.ts";

const MOST = 10_000;

test("an entry is remembered until it is deleted, and another failure under its id is not taken for it", () => {
  const delivered = new DeliveredEntries();
  const entry = entryOf(1);
  delivered.add(entry);
  expect([delivered.has(entry), delivered.has({ ...entry, failedAt: 2 }), delivered.has(entryOf(2))]).toEqual([
    true,
    false,
    false,
  ]);
  delivered.delete(entry.id);
  expect([delivered.has(entry), delivered.size, delivered.ids]).toEqual([false, 0, []]);
});

test("ten thousand are remembered; beyond them the one is forgotten that was delivered longest ago", () => {
  const delivered = new DeliveredEntries();
  for (let nth = 0; nth < MOST; nth++) delivered.add(entryOf(nth));
  // Tried again, and again not deleted: that is the newest now.
  delivered.add(entryOf(0));
  expect(delivered.size).toBe(MOST);
  delivered.add(entryOf(MOST));
  expect(delivered.size).toBe(MOST);
  expect([0, 1, 2, MOST].map((nth) => delivered.has(entryOf(nth)))).toEqual([true, false, true, true]);
});

test("what is not deleted is told of at once, and then each ten seconds with the number of it", () => {
  const delivered = new DeliveredEntries();
  expect([0, 1, 9_999, 10_000, 10_001, 20_000].map((now) => delivered.toTell(now))).toEqual([1, 0, 0, 3, 0, 2]);
});
