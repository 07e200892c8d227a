import type { FacetHistogram } from "../dlq-store.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Steps that people can read off an axis, from the finest on; after the last, so many times that. */
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  DAY_MS,
];

/**
 * The step with which `buckets` steps hold everything from `oldest` to `newest`, no finer than `resolutionMs`. Steps begin at
 * multiples of their length, so that those of two looks are the same. What failed before 1970 counts as of then: somebody has set a
 * clock, or the entry.
 */
export function histogramStep(
  oldest: number,
  newest: number,
  { buckets, resolutionMs }: { readonly buckets: number; readonly resolutionMs: number },
): number {
  const holds = (stepMs: number): boolean => stepOf(newest, stepMs) - stepOf(oldest, stepMs) < buckets;
  const step = STEPS_MS.find((stepMs) => stepMs >= resolutionMs && holds(stepMs));
  if (step !== undefined) return step;
  let days = Math.max(2, Math.ceil((newest - Math.max(0, oldest)) / DAY_MS / buckets));
  while (!holds(days * DAY_MS)) days = Math.ceil(days * 1.1);
  return days * DAY_MS;
}

/** Which step from 1970 on a time is in. */
function stepOf(time: number, stepMs: number): number {
  return Math.max(0, Math.floor(time / stepMs));
}

/** Of counts by the time of failure, each time no younger than any that it counts. */
export function histogramOf(
  counts: Iterable<readonly [failedAt: number, count: number]>,
  { oldest, newest, stepMs }: { readonly oldest: number; readonly newest: number; readonly stepMs: number },
): FacetHistogram {
  const first = stepOf(oldest, stepMs);
  const sums = Array.from({ length: stepOf(newest, stepMs) - first + 1 }, () => 0);
  for (const [failedAt, count] of counts) {
    const index = Math.min(Math.max(stepOf(failedAt, stepMs) - first, 0), sums.length - 1);
    sums[index] = (sums[index] ?? 0) + count;
  }
  return { from: first * stepMs, stepMs, counts: sums };
}
