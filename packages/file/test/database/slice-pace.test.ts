import { expect, test } from "vitest";
import { SlicePace } from "../../src/database/slice-pace.ts";

/** Items that take so long each, of which a transaction commits as many as a slice has. */
function work(itemMs: number, commitMs: (items: number) => number) {
  let now = 1_000;
  const pace = new SlicePace({ monotonic: () => now });
  /** How many of so many items a transaction has done, and how long it took. */
  return (items = 10_000) => {
    const began = now;
    const done: number[] = [];
    const count = pace.measured(() => {
      const all = Array.from({ length: items }, (_, at) => at);
      const taken = pace.untilOver(all, (item) => {
        done.push(item);
        now += itemMs;
      });
      now += commitMs(taken);
      return taken;
    });
    expect(done).toEqual(Array.from({ length: count }, (_, at) => at));
    return { count, tookMs: now - began };
  };
}

test.each([
  ["nothing", 0],
  ["half of what the work takes", 0.5],
  ["as long as the work", 1],
  ["three times as long", 3],
])(
  "work and commit keep the event loop for 4 ms, 3 of them for the work at most, where a commit takes %s",
  (_, times) => {
    const once = work(0.01, (items) => items * 0.01 * times);
    for (let warm = 0; warm < 40; warm++) once();
    const { count, tookMs } = once();
    expect(tookMs).toBeLessThan(4.2);
    expect(count).toBeCloseTo(Math.min(300, 400 / (1 + times)), -1);
  },
);

test("however long commits take, half a millisecond is left to the work, and one item at least is done", () => {
  const many = work(0.01, () => 100);
  const one = work(50, () => 100);
  for (let warm = 0; warm < 40; warm++) {
    many();
    one();
  }
  expect([many().count, one().count]).toEqual([50, 1]);
});

test("a commit that took long once changes little of what comes next", () => {
  let long = false;
  const once = work(0.01, (items) => (long ? 50 : items * 0.01));
  for (let warm = 0; warm < 40; warm++) once();
  long = true;
  once();
  long = false;
  expect(once().count).toBeGreaterThan(170);
});

test("what there is is done, of nothing nothing, and that tells nothing of commits", () => {
  const once = work(0.01, (items) => items * 0.01);
  expect([once(5).count, once(0).count]).toEqual([5, 0]);
  for (let idle = 0; idle < 100; idle++) once(0);
  expect(once().count).toBeGreaterThan(250);
});
