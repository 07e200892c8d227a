import { systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import { untilSliceEnds } from "../../src/database/until-slice-ends.ts";

test.each([
  ["what fits into 3 ms", 1, 3],
  ["all that there is", 0.1, 10],
  ["one at least", 50, 1],
])("%s is done", (_, takesMs, count) => {
  let now = 1_000;
  const clock = { ...systemClock, monotonic: () => now };
  const done: number[] = [];
  const items = Array.from({ length: 10 }, (__, at) => at);
  const took = untilSliceEnds(clock, items, (item) => {
    done.push(item);
    now += takesMs;
  });
  expect([took, done]).toEqual([count, items.slice(0, count)]);
});

test("of nothing, nothing is done", () => expect(untilSliceEnds(systemClock, [], expect.unreachable)).toBe(0));
