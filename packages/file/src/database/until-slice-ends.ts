import type { Clock } from "@bridge/ports";

/** The event loop is kept for about this long, and for as long again by the commit. */
const SLICE_MS = 3;

/** Does the work for as many items as one slice of time holds, and for one at least. Returns for how many. */
export function untilSliceEnds<T>(clock: Clock, items: readonly T[], work: (item: T) => void): number {
  const end = clock.monotonic() + SLICE_MS;
  let count = 0;
  for (const item of items) {
    work(item);
    count++;
    if (clock.monotonic() >= end) break;
  }
  return count;
}
