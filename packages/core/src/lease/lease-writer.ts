import { BridgeError, type Clock, type LeaseRecord, type LeaseStore } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";

export interface LeaseWriterOptions {
  readonly key: string;
  readonly clock: Clock;
  readonly store: () => LeaseStore | undefined;
}

/** The result of a replacement. */
export type Written =
  | { readonly made: true }
  /** The record that is there instead. */
  | { readonly made: false; readonly there: LeaseRecord | undefined };

/** Reads and writes the record of one lease, each within a time limit. Rejects with a `BridgeError`, or the signal's reason. */
export class LeaseWriter {
  readonly #options: LeaseWriterOptions;

  constructor(options: LeaseWriterOptions) {
    this.#options = options;
  }

  read(boundMs: number, signal: AbortSignal): Promise<LeaseRecord | undefined> {
    const { key } = this.#options;
    return this.#ask(boundMs, signal, (store, bound) => store.read(key, bound));
  }

  /**
   * Writes `next` over `expected`. If the answer is missing or a refusal, reads the record to find out: when a client
   * library repeats a request, its own first try makes the store refuse the second.
   */
  async write(
    expected: LeaseRecord | undefined,
    next: LeaseRecord,
    boundMs: number,
    signal: AbortSignal,
  ): Promise<Written> {
    const { key } = this.#options;
    // Half of the time is for reading back what happened.
    const halfMs = boundMs / 2;
    try {
      const made = await this.#ask(halfMs, signal, (store, bound) => store.replace(key, expected, next, bound));
      if (made) return { made };
    } catch (error) {
      if (signal.aborted) throw error;
    }
    const there = await this.read(halfMs, signal);
    return same(there, next) ? { made: true } : { made: false, there };
  }

  async #ask<T>(
    boundMs: number,
    signal: AbortSignal,
    call: (store: LeaseStore, bound: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const store = this.#options.store();
    if (store === undefined) throw new BridgeError("UNAVAILABLE", "no lease store is open");
    const over = new AbortController();
    const done = new AbortController();
    const bound = AbortSignal.any([signal, over.signal]);
    void this.#options.clock.delay(boundMs, AbortSignal.any([signal, done.signal])).then(
      () => over.abort(new BridgeError("TIMEOUT", "the lease store did not answer in time")),
      () => {},
    );
    try {
      return await orAborted(call(store, bound), bound);
    } catch (thrown) {
      signal.throwIfAborted();
      throw BridgeError.from(thrown);
    } finally {
      done.abort();
    }
  }
}

function same(there: LeaseRecord | undefined, next: LeaseRecord): boolean {
  return there?.holder === next.holder && there.token === next.token && there.beat === next.beat;
}
