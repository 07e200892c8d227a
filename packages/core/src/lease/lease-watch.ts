import type { LeaseRecord } from "@bridge/ports";

/**
 * What a waiting instance has seen of a lease. The lease is free when nobody holds it, or when its record has not
 * changed for its ttl by this process's monotonic clock. The holder's clock and the time of day play no part.
 */
export class LeaseWatch {
  readonly #holder: string;
  #seen: (LeaseRecord & { readonly since: number }) | undefined;

  /** `holder`: this process, whose former runtimes may have left a lease behind. */
  constructor(holder: string) {
    this.#holder = holder;
  }

  /**
   * How long before the lease just read may be taken, in milliseconds; 0: now. `now` is monotonic. With `standBackMs`,
   * it must also stay free that long; then even this process's own lease has to run out first.
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

  /** Whether another instance held the lease when last seen, and may still hold it at `now`. */
  heldElsewhere(now: number): boolean {
    if (this.#seen === undefined) return false;
    const { holder, since, ttlMs } = this.#seen;
    return holder !== "" && holder !== this.#holder && now < since + ttlMs;
  }
}
