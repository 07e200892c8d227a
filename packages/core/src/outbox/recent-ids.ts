import type { Clock } from "@bridge/ports";

/** No more are kept: callers mostly ask whether there are any. */
const MAX_IDS = 10_000;

/**
 * Ids of waiting records, each for a limited time: in a shared outbox, another process may end a record without notice,
 * and an id kept until it ends here could be kept for ever.
 */
export class RecentIds {
  readonly #clock: Clock;
  /** Monotonic milliseconds. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether any id's time is not over. */
  get some(): boolean {
    const now = this.#clock.monotonic();
    for (const [id, until] of this.#until) {
      if (until > now) return true;
      this.#until.delete(id);
    }
    return false;
  }

  /** The ids, perhaps including some whose time is over. */
  get ids(): Iterable<string> {
    return this.#until.keys();
  }

  add(id: string, forMs: number): void {
    if (this.#until.size >= MAX_IDS && this.some && !this.#until.has(id)) return;
    this.#until.set(id, this.#clock.monotonic() + forMs);
  }

  delete(id: string): void {
    // Called for every record that ends.
    if (this.#until.size > 0) this.#until.delete(id);
  }
}
