import type { LeaseRecord } from "@bridge/ports";

/**
 * What one who waits for a lease has seen of it. A lease is free when nobody holds it, or when its record has not moved
 * for its ttl as measured here: the holder's clock and the time of day have no part in it.
 */
export class LeaseWatch {
  readonly #holder: string;
  #seen: (Pick<LeaseRecord, "token" | "beat" | "ttlMs"> & { readonly since: number }) | undefined;

  /** `holder`: this process, whose former runtimes may have left a lease behind. */
  constructor(holder: string) {
    this.#holder = holder;
  }

  /** How long the lease that was just read is not free yet, in milliseconds; `now` is monotonic. 0: it may be taken. */
  waitFor(record: LeaseRecord | undefined, now: number): number {
    if (record === undefined || record.holder === "" || record.holder === this.#holder) return 0;
    const { token, beat, ttlMs } = record;
    if (this.#seen?.token !== token || this.#seen.beat !== beat) this.#seen = { token, beat, ttlMs, since: now };
    return Math.max(0, this.#seen.since + this.#seen.ttlMs - now);
  }

  /** Whether what was seen last may still be so at `now`. */
  fresh(now: number): boolean {
    return this.#seen !== undefined && now < this.#seen.since + this.#seen.ttlMs;
  }
}
