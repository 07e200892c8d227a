import { expect, test } from "vitest";
import { BridgeError } from "../src/index.ts";
import { CallLimit } from "../src/internal.ts";

const MOST = { items: 1_000, bytes: 8_000_000 };
const late = new BridgeError("TIMEOUT", "no answer in time");

test("a call that was late is asked for in halves, until each item goes alone", () => {
  const limit = new CallLimit(MOST);
  limit.ended({ items: 32, bytes: 8_000_000 }, late);
  expect(limit.bytes).toBe(4_000_000);
  limit.ended({ items: 4, bytes: 1_000_000 }, late);
  expect(limit.bytes).toBe(500_000);
  for (let i = 0; i < 20; i++) limit.ended({ items: 2, bytes: 100 }, late);
  expect(limit.items).toBeLessThan(2);
  expect(limit.bytes).toBeGreaterThan(1_000);
});

test("calls that were begun together are late together, and count once", () => {
  const limit = new CallLimit(MOST);
  for (let i = 0; i < 5; i++) limit.ended({ items: 1_000, bytes: 1_000 }, late);
  expect(limit.items).toBe(500);
});

test("a larger call that was begun before others were late says nothing new when it is late too", () => {
  const limit = new CallLimit(MOST);
  for (const items of [200, 1_000, 400]) limit.ended({ items, bytes: 0 }, late);
  expect(limit.items).toBe(100);
});

test.each([
  ["a call of one item", { items: 1, bytes: 8_000_000 }, late],
  ["another failure", { items: 500, bytes: 0 }, new BridgeError("CONNECTION_LOST", "cut")],
  ["what is no failure of a store", { items: 500, bytes: 0 }, new Error("a bug")],
])("%s says nothing about the size", (_, size, error) => {
  const limit = new CallLimit(MOST);
  limit.ended(size, error);
  expect([limit.items, limit.bytes]).toEqual([MOST.items, MOST.bytes]);
});

test("full calls that succeed make room for larger ones, up to the most; others say nothing", () => {
  const limit = new CallLimit(MOST);
  limit.ended({ items: 2, bytes: 2 }, late);
  const least = limit.items;
  for (let i = 0; i < 100; i++) limit.ended({ items: 0, bytes: limit.bytes / 2 });
  expect(limit.items).toBe(least);
  for (let i = 0; i < 100; i++) limit.ended({ items: limit.items, bytes: 0 });
  expect([limit.items, limit.bytes]).toEqual([MOST.items, MOST.bytes]);
});
