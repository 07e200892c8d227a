import { BridgeError } from "./errors.ts";

/** How much a call to a store holds. */
export interface CallSize {
  readonly items: number;
  readonly bytes: number;
}

/** No call is held to less than one part in so many of the most: by then each item goes alone. */
const PARTS = 1_024;
const GROWTH = 9 / 8;

/**
 * How much a call to a store may hold, in items and bytes. What got no answer in time is asked for in halves the next time,
 * because on a slow line the same would be late for ever; while full calls succeed, there is more in each again.
 */
export class CallLimit implements CallSize {
  readonly #most: CallSize;
  #share = 1;

  constructor(most: CallSize) {
    this.#most = most;
  }

  get items(): number {
    return this.#most.items * this.#share;
  }

  get bytes(): number {
    return this.#most.bytes * this.#share;
  }

  /** Whether one call may hold that. One item may be more than a call may hold, and goes alone. */
  holds({ items, bytes }: CallSize): boolean {
    return items <= this.items && bytes <= this.bytes;
  }

  /** Tells how a call of that size ended: with `error`, or well. */
  ended({ items, bytes }: CallSize, error?: unknown): void {
    if (error === undefined) {
      if (!this.holds({ items: 2 * items, bytes: 2 * bytes })) this.#share = Math.min(1, this.#share * GROWTH);
      return;
    }
    if (!BridgeError.is(error) || error.code !== "TIMEOUT" || items < 2) return;
    const share = Math.max(items / this.#most.items, bytes / this.#most.bytes);
    // A larger one was begun before others were late.
    if (share <= this.#share) this.#share = Math.max(1 / PARTS, share / 2);
  }
}
