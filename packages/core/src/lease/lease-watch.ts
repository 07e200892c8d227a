import type { LeaseRecord } from "@bridge/ports";

/**
 * What one who waits for a lease has seen of it. A lease is free when nobody holds it, or when its record has not moved
 * for its ttl as measured here: the holder's clock and the time of day have no part in it.
 */
export class LeaseWatch {
  readonly #holder: string;
  #seen: (LeaseRecord & { readonly since: number }) | undefined;

  /** `holder`: this process, whose former runtimes may have left a lease behind. */
  constructor(holder: string) {
    this.#holder = holder;
  }

  /**
   * How long the lease that was just read may not be taken yet, in milliseconds; `now` is monotonic. 0: it may be. Who
   * stands back takes it only when nobody else has for `standBackMs`, and takes not even its own for its own.
   */
  waitFor(record: LeaseRecord | undefined, now: number, standBackMs = 0): number {
    if (record === undefined || this.#seen?.token !== record.token || this.#seen.beat !== record.beat) {
      this.#seen = record && { ...record, since: now };
    }
    if (this.#seen === undefined) return 0;
    const { holder, since, ttlMs } = this.#seen;
    if (holder === this.#holder && standBackMs === 0) return 0;
    return Math.max(0, since + (holder === "" ? 0 : ttlMs) + standBackMs - now);
  }

  /** Whether another held it when it was seen last, and may still do so at `now`. */
  heldElsewhere(now: number): boolean {
    if (this.#seen === undefined) return false;
    const { holder, since, ttlMs } = this.#seen;
    return holder !== "" && holder !== this.#holder && now < since + ttlMs;
  }
}
