import type { Spread } from "../harness/spread.ts";

/** A figure as `median [min–max]`. */
export function shown(spread: Spread | undefined, digits: number): string {
  if (spread === undefined || Number.isNaN(spread.median)) return "–";
  const [median, min, max] = [spread.median, spread.min, spread.max].map((value) => value.toFixed(digits));
  return min === max ? `${median}` : `${median} [${min}–${max}]`;
}

/** Thousands a second. */
export function rate(spread: Spread | undefined): string {
  return shown(scaled(spread, 1 / 1_000), spread !== undefined && spread.median < 1_000 ? 3 : 1);
}

function scaled(spread: Spread | undefined, factor: number): Spread | undefined {
  if (spread === undefined) return undefined;
  return { median: spread.median * factor, min: spread.min * factor, max: spread.max * factor };
}
