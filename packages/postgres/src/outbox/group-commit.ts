import { CallLimit, type CallSize, orAborted } from "@bridge/ports/internal";

/** What one caller wants written, and whom to tell. */
interface Call<Item, Result> {
  readonly items: readonly Item[];
  readonly bytes: number;
  readonly signal: AbortSignal;
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One write after the other, each with all the calls that came while the last one was under way: a write costs more than
 * what is in it. After one that got no answer in time fewer calls go together. Calls keep their order. Holds what callers
 * wait for, and nothing else: whoever has given up before its write began is left out.
 */
export class GroupCommit<Item, Result> {
  readonly #limit: CallLimit;
  readonly #write: (calls: readonly (readonly Item[])[]) => Promise<readonly (readonly Result[])[]>;
  #waiting: Call<Item, Result>[] = [];
  #writing = false;

  /** A write holds at most `most`; a call that is larger goes alone. `write` resolves to the results of each call; what it rejects with, all of its calls are told. */
  constructor(most: CallSize, write: (calls: readonly (readonly Item[])[]) => Promise<readonly (readonly Result[])[]>) {
    this.#limit = new CallLimit(most);
    this.#write = write;
  }

  /** Rejects with the signal's reason when it aborts; a write that has begun goes on. */
  add(items: readonly Item[], signal: AbortSignal, bytes = 0): Promise<readonly Result[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Result[]>();
    this.#waiting.push({ items, bytes, signal, resolve, reject });
    if (!this.#writing) {
      this.#writing = true;
      // What else this turn of the event loop brings goes with it.
      setImmediate(() => void this.#writeAll());
    }
    return orAborted(promise, signal);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const calls = this.#next();
      if (calls.length === 0) continue;
      const size = sizeOf(calls);
      try {
        const results = await this.#write(calls.map(({ items }) => items));
        this.#limit.ended(size);
        for (const [index, { resolve }] of calls.entries()) resolve(results[index] ?? []);
      } catch (error) {
        this.#limit.ended(size, error);
        for (const { reject } of calls) reject(error);
      }
    }
    this.#writing = false;
  }

  #next(): readonly Call<Item, Result>[] {
    this.#waiting = this.#waiting.filter(({ signal }) => !signal.aborted);
    let [count, items, bytes] = [0, 0, 0];
    for (const call of this.#waiting) {
      items += call.items.length;
      bytes += call.bytes;
      if (count > 0 && !this.#limit.holds({ items, bytes })) break;
      count++;
    }
    const calls = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return calls;
  }
}

function sizeOf(calls: readonly { readonly items: readonly unknown[]; readonly bytes: number }[]): CallSize {
  return calls.reduce((sum, call) => ({ items: sum.items + call.items.length, bytes: sum.bytes + call.bytes }), {
    items: 0,
    bytes: 0,
  });
}
