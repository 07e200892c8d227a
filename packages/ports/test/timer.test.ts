import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ticker, timer } from "../src/system.ts";

const DAY = 86_400_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("finding 4.5: a timer of 30 days fires after 30 days, and not at once", () => {
  const fired = vi.fn<() => void>();
  timer(30 * DAY, fired);
  vi.advanceTimersByTime(30 * DAY - 1);
  expect(fired).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fired).toHaveBeenCalledOnce();
});

test("finding 4.5: one that is disposed does not fire, whichever part of it is running", () => {
  const fired = vi.fn<() => void>();
  const first = timer(60 * DAY, fired);
  vi.advanceTimersByTime(40 * DAY);
  first[Symbol.dispose]();
  vi.advanceTimersByTime(40 * DAY);
  expect(fired).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test("finding 4.5: what ticks every 30 days ticks twice in 61", () => {
  const tick = vi.fn<() => void>();
  using _ = ticker(30 * DAY, tick);
  vi.advanceTimersByTime(61 * DAY);
  expect(tick).toHaveBeenCalledTimes(2);
});

test("finding 5.7: what begins to tick together, or was late together, does not tick in one turn", () => {
  const ticks = new Map<number, number>();
  const tickers = Array.from({ length: 1_000 }, () =>
    ticker(1_000, () => void ticks.set(performance.now(), (ticks.get(performance.now()) ?? 0) + 1)),
  );
  vi.advanceTimersByTime(1_000);
  expect([...ticks.values()].reduce((sum, count) => sum + count)).toBe(1_000);
  expect(Math.max(...ticks.values())).toBeLessThan(10);
  // The loop stands still for three seconds: the clock goes on, and nothing fires.
  vi.setSystemTime(Date.now() + 3_000);
  vi.advanceTimersByTime(1_000);
  ticks.clear();
  vi.advanceTimersByTime(1_000);
  expect([...ticks.values()].reduce((sum, count) => sum + count)).toBe(1_000);
  expect(Math.max(...ticks.values())).toBeLessThan(10);
  for (const one of tickers) one[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
});

test("the first tick comes after half of the interval at the earliest, and after all of it at the latest", () => {
  const tick = vi.fn<() => void>();
  using _ = ticker(1_000, tick);
  vi.advanceTimersByTime(499);
  expect(tick).not.toHaveBeenCalled();
  vi.advanceTimersByTime(501);
  expect(tick).toHaveBeenCalledOnce();
});
