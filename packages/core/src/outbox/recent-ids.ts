import type { Clock } from "@bridge/ports";

/** More are not kept: that there are some is what is asked. */
const MAX_IDS = 10_000;

/**
 * Ids of records that wait, each for a time of its own: in an outbox that is shared somebody else may end a record and never
 * tell, and what is only remembered until it ends here would be remembered for ever.
 */
export class RecentIds {
  readonly #clock: Clock;
  /** Monotonic milliseconds. */
  readonly #until = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether there is one whose time is not over. */
  get some(): boolean {
    const now = this.#clock.monotonic();
    for (const [id, until] of this.#until) {
      if (until > now) return true;
      this.#until.delete(id);
    }
    return false;
  }

  /** Those whose time may not be over. */
  get ids(): Iterable<string> {
    return this.#until.keys();
  }

  add(id: string, forMs: number): void {
    if (this.#until.size >= MAX_IDS && this.some && !this.#until.has(id)) return;
    this.#until.set(id, this.#clock.monotonic() + forMs);
  }

  delete(id: string): void {
    // Of each record that ends this is asked.
    if (this.#until.size > 0) this.#until.delete(id);
  }
}
