import type { Dice } from "../dice.ts";

export interface LeaseTimes {
  readonly ttlMs: number;
  /** The longest way to the store. */
  readonly latencyMs: number;
}

/** The shortest that a document may have. */
const LEAST_TTL_MS = 1_000;
/** The share of a lease that a send may take, where it is short for that; a document may have a little more. */
const SHARE = { least: 0.7, most: 0.88 } as const;
/** Of the ttl a way takes no more than this: a question, which is three of them, has an eighth of it. */
const LONGEST_WAY = 0.04;
/** The longest of a store that is late. */
const LATE_WAY = 0.06;
/** What of a lease a holder counts on. */
const TERM = 0.97;

/**
 * Of an exclusive session whose route sends under its lease: as long as is comfortable, or so short that a send has to begin soon
 * after a renewal; behind a store that is quick, or as slow as it may be so that sends begin at all.
 */
export function drawLeaseTimes(dice: Dice, sendTimeoutMs: number): LeaseTimes {
  const share = SHARE.least + dice.next() * (SHARE.most - SHARE.least);
  const ttlMs = dice.chance(0.6) ? Math.max(LEAST_TTL_MS, Math.ceil(sendTimeoutMs / share)) : usualTtlMs(sendTimeoutMs);
  // A renewal, which is three ways, has to leave time for a send.
  const most = Math.floor(Math.min(ttlMs * LONGEST_WAY, (TERM * ttlMs - sendTimeoutMs) / 3));
  return { ttlMs, latencyMs: dice.chance(0.5) ? most : Math.min(most, dice.scaled(1, 300)) };
}

/** The longest way to a store that does not always answer a question in time, where what is sent is under no lease. */
export function lateLeasesMs(sendTimeoutMs: number): number {
  return Math.floor(LATE_WAY * usualTtlMs(sendTimeoutMs));
}

/** Whoever stands still mostly does so for longer, and goes on while the next owner is at work. */
export function usualTtlMs(sendTimeoutMs: number): number {
  return Math.max(5_000, 2 * sendTimeoutMs);
}
