import type { HistogramSample } from "../family.ts";

/** Observations as CloudWatch takes them: each value, and how often it was seen. */
export interface EmfValues {
  readonly Values: readonly number[];
  readonly Counts: readonly number[];
}

/**
 * What a histogram grew by. The middle of a bucket stands for all that is in it, and the last bound for what is above it:
 * CloudWatch makes percentiles of that, which are as exact as the buckets. `undefined` when nothing was observed.
 */
export function emfValues(
  { bounds, counts }: HistogramSample,
  former: readonly number[] | undefined,
): EmfValues | undefined {
  const begunAnew = former === undefined || counts.some((count, bucket) => count < (former[bucket] ?? 0));
  const grown = counts
    .map((count, bucket) => ({
      value: middle(bounds, bucket),
      count: begunAnew ? count : count - (former[bucket] ?? 0),
    }))
    .filter(({ count }) => count > 0);
  if (grown.length === 0) return undefined;
  return { Values: grown.map(({ value }) => value), Counts: grown.map(({ count }) => count) };
}

function middle(bounds: readonly number[], bucket: number): number {
  const lower = bounds[bucket - 1] ?? 0;
  return (lower + (bounds[bucket] ?? lower)) / 2;
}
