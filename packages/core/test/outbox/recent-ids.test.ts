import { expect, test } from "vitest";
import { RecentIds } from "../../src/outbox/recent-ids.ts";
import { FakeClock } from "../support/fake-clock.ts";

test("each id is known for a time of its own, or until it is deleted", async () => {
  const clock = new FakeClock();
  const ids = new RecentIds(clock);
  expect(ids.some).toBe(false);
  ids.add("short", 1_000);
  ids.add("long", 3_000);
  ids.add("again", 1_000);
  await clock.advance(1_000);
  expect(ids.some).toBe(true);
  ids.add("again", 5_000);
  ids.delete("long");
  await clock.advance(4_999);
  expect(ids.some).toBe(true);
  await clock.advance(1);
  expect(ids.some).toBe(false);
});

test("what was asked for after its time is over takes no room any more", async () => {
  const clock = new FakeClock();
  const ids = new RecentIds(clock);
  for (const id of ["short", "shorter", "long"]) ids.add(id, id === "long" ? 3_000 : 1_000);
  await clock.advance(1_000);
  expect([ids.some, [...ids.ids]]).toEqual([true, ["long"]]);
  await clock.advance(2_000);
  expect([ids.some, [...ids.ids]]).toEqual([false, []]);
});

test("there are never more than ten thousand, and new ones are known when the old ones are over", async () => {
  const clock = new FakeClock();
  const ids = new RecentIds(clock);
  for (let i = 0; i < 20_000; i++) ids.add(`id ${i}`, 1_000);
  // What came after the ten thousandth is not kept: deleting the others leaves none.
  for (let i = 0; i < 10_000; i++) ids.delete(`id ${i}`);
  expect(ids.some).toBe(false);
  for (let i = 0; i < 10_000; i++) ids.add(`id ${i}`, 1_000);
  await clock.advance(1_000);
  ids.add("new", 1_000);
  expect(ids.some).toBe(true);
});
