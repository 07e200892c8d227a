import type { Clock } from "@bridge/ports";

/** What one transaction with a slice of a longer work keeps the event loop for, its commit included. */
const TURN_MS = 4;
/** The work alone, at least and at most: a commit that took long by chance is no reason to do next to nothing from then on. */
const LEAST_MS = 0.5;
const MOST_MS = 3;
/** So much of what is known of commits is what the last one has taken. */
const WEIGHT = 1 / 8;

/**
 * How much of a longer work one transaction takes on. A commit writes all pages that the work has changed, which takes about as long as
 * the work, and longer the wider what it changes is scattered: so the work has the part of the turn that commits leave to it.
 */
export class SlicePace {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Of a transaction, the part that was work, of late. */
  #part = MOST_MS / TURN_MS;
  #workedMs = 0;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Does the work for as many items as one slice holds, and for one at least. Returns for how many. */
  untilOver<Item>(items: readonly Item[], work: (item: Item) => void): number {
    const began = this.#clock.monotonic();
    const end = began + Math.max(LEAST_MS, Math.min(MOST_MS, TURN_MS * this.#part));
    let count = 0;
    let now = began;
    for (const item of items) {
      work(item);
      count++;
      now = this.#clock.monotonic();
      if (now >= end) break;
    }
    this.#workedMs += now - began;
    return count;
  }

  /** Writes a transaction, which may have a slice in it. */
  measured<Result>(write: () => Result): Result {
    const began = this.#clock.monotonic();
    this.#workedMs = 0;
    const result = write();
    const tookMs = this.#clock.monotonic() - began;
    if (this.#workedMs > 0) this.#part += WEIGHT * (this.#workedMs / tookMs - this.#part);
    return result;
  }
}
