/** The counts per bucket between two readings of a `HistogramStats`. */
export function countsBetween(before: readonly number[], now: readonly number[]): readonly number[] {
  return now.map((count, bucket) => count - (before[bucket] ?? 0));
}

/**
 * The value below which this share of the observations lies, assuming that they are even within a bucket. Observations
 * above all bounds count as the last bound. `undefined` if there are none.
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
