import { lineThrough } from "../../outage/src/memory.ts";

/** How the memory of a process went, in MiB. */
export interface Growth {
  /** Means of the second quarter of the readings, and of the last. */
  readonly second: number;
  readonly last: number;
  /** What the last quarter is above the second, as a fraction of that. */
  readonly growth: number;
  /** The same of the straight line that fits best from the second quarter on, from its beginning to its end. */
  readonly slope: number;
  readonly most: number;
}

/** Above it in both, memory is not called flat: one mean may have caught a peak, and so may the end of a line. */
export const MOST_GROWTH = 0.1;
/** In a shorter run the second quarter is still the beginning. */
export const LEAST_MINUTES = 10;

/** From readings at equal distances over the whole run. */
export function growthOf(readings: readonly number[]): Growth {
  const quarter = Math.floor(readings.length / 4);
  const [second, last] = [mean(readings.slice(quarter, 2 * quarter)), mean(readings.slice(-quarter))];
  const { from, to } = lineThrough(readings.slice(quarter));
  return { second, last, growth: last / second - 1, slope: to / from - 1, most: Math.max(...readings) };
}

export function isFlat({ growth, slope }: Growth): boolean {
  return !(growth > MOST_GROWTH && slope > MOST_GROWTH);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
