/** What is counted in buckets between two readings, as `HistogramStats` has them. */
export function countsBetween(before: readonly number[], now: readonly number[]): readonly number[] {
  return now.map((count, bucket) => count - (before[bucket] ?? 0));
}

/**
 * The value below which this share of the observations lies, taken to be even within a bucket; what is above all bounds counts as
 * the last of them. `undefined` without any.
 */
export function quantileOf(share: number, bounds: readonly number[], counts: readonly number[]): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let below = 0;
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && below + count >= share * total) {
      const lower = bounds[bucket - 1] ?? 0;
      const upper = bounds[bucket] ?? lower;
      return lower + ((share * total - below) / count) * (upper - lower);
    }
    below += count;
  }
  return bounds.at(-1);
}
