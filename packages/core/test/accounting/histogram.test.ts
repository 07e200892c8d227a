import { describe, expect, test } from "vitest";
import { SEND_BOUNDS_MS, STAY_BOUNDS_MS } from "../../src/accounting/duration-bounds.ts";
import { Histogram } from "../../src/accounting/histogram.ts";

describe("a histogram", () => {
  test("a bucket has its upper bound in it, and the last one has what is above them all", () => {
    const histogram = new Histogram([1, 10]);
    for (const ms of [0, 1, 1.001, 10, 10.001, 1e9]) histogram.observe(ms);
    expect(histogram.read()).toEqual({ bounds: [1, 10], counts: [2, 2, 2], sum: 0 + 1 + 1.001 + 10 + 10.001 + 1e9 });
  });

  test("takes in what another has observed, and a reading stays as it was", () => {
    const [one, other] = [new Histogram([1, 10]), new Histogram([1, 10])];
    one.observe(5);
    const before = one.read();
    for (const ms of [0.5, 5, 50]) other.observe(ms);
    one.add(other);
    expect(one.read()).toEqual({ bounds: [1, 10], counts: [1, 2, 1], sum: 60.5 });
    expect(before).toEqual({ bounds: [1, 10], counts: [0, 1, 0], sum: 5 });
    expect(other.read().sum).toBe(55.5);
    expect([one.count, other.count]).toEqual([4, 3]);
  });

  test.each([SEND_BOUNDS_MS, STAY_BOUNDS_MS])("the bounds in use ascend", (...bounds) => {
    expect(bounds).toEqual([...new Set(bounds)].toSorted((a, b) => a - b));
  });
});
