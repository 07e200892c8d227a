import fc from "fast-check";
import { expect, test } from "vitest";
import { backoffDelay } from "../../src/route/backoff.ts";

const policy = { initialIntervalMs: 100, maxIntervalMs: 5_000, multiplier: 2, jitter: 0 };

test("the delay doubles with each attempt up to the maximum", () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => backoffDelay(policy, attempt, () => 0.5));
  expect(delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
});

test("jitter spreads the delay up and down by its fraction", () => {
  const spread = { ...policy, jitter: 0.2 };
  expect(backoffDelay(spread, 1, () => 0)).toBeCloseTo(80);
  expect(backoffDelay(spread, 1, () => 0.999_999)).toBeCloseTo(120, 1);
});

test("a delay is never negative, never above the maximum, and always a number", () => {
  const policies = fc.record({
    initialIntervalMs: fc.integer({ min: 0, max: 1_000_000 }),
    maxIntervalMs: fc.integer({ min: 0, max: 1_000_000 }),
    multiplier: fc.double({ min: 1, max: 1_000, noNaN: true }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const fractions = fc.double({ min: 0, max: 0.999_999, noNaN: true });
  fc.assert(
    fc.property(policies, fc.integer({ min: 1, max: 10_000 }), fractions, (given, attempt, fraction) => {
      const delay = backoffDelay(given, attempt, () => fraction);
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(delay).toBeLessThanOrEqual(given.maxIntervalMs);
    }),
  );
});
