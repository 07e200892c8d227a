import type { Random } from "../seams.ts";

const FIRST_MS = 50;
const LONGEST_MS = 2_000;

/** How long to wait after the n-th failed try: anything up to twice as long as last time, so that callers spread. */
export function retryDelay(tries: number, random: Random): number {
  return random.next() * Math.min(LONGEST_MS, FIRST_MS * 2 ** (tries - 1));
}
