import fc from "fast-check";
import { expect, test } from "vitest";
import { histogramOf, histogramStep } from "../src/dlq/facet-histogram.ts";

const anyTime = fc.oneof(
  fc.integer({ min: 1.7e12, max: 1.9e12 }),
  fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
);

test("operators 2: a histogram counts everything in no more steps than were asked for, whatever the times are", () => {
  fc.assert(
    fc.property(
      fc.array(anyTime, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 200 }),
      (times, buckets) => {
        const [oldest, newest] = [Math.min(...times), Math.max(...times)];
        const stepMs = histogramStep(oldest, newest, { buckets, resolutionMs: 60_000 });
        const counted = times.map((time) => [time, 1] as const);
        const { counts, from } = histogramOf(counted, { oldest, newest, stepMs });
        expect(counts.length).toBeLessThanOrEqual(buckets);
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(times.length);
        expect(from % stepMs).toBe(0);
      },
    ),
  );
});

test("its steps are those that people read off an axis", () => {
  const day = 86_400_000;
  const step = (spanMs: number, buckets: number) =>
    histogramStep(30 * day, 30 * day + spanMs, { buckets, resolutionMs: 60_000 });
  expect([step(0, 48), step(2 * day, 49), step(10 * day, 11), step(400 * day, 48)]).toEqual([
    60_000,
    3_600_000,
    day,
    9 * day,
  ]);
});
