import type { Probation } from "@bridge/ports";

/** However late a process comes back, so much is left to look at what it runs. */
const LEAST_LEFT_MS = 60_000;
/** The longest that anything can be tried out. */
const MOST_MS = 3_600_000;

/**
 * What is left of a probation whose process has ended in order, in milliseconds at `now`: at least a minute, and never
 * more than it was to last, because the clock that its end was written by may have been set back since.
 */
export function timeLeft({ confirmBy, withinMs = MOST_MS }: Probation, now: number): number {
  return Math.max(LEAST_LEFT_MS, Math.min(confirmBy - now, withinMs));
}
