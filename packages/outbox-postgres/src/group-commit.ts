/** What one caller wants written, and whom to tell. */
interface Call<Item, Result> {
  readonly items: readonly Item[];
  readonly bytes: number;
  readonly resolve: (results: readonly Result[]) => void;
  readonly reject: (error: unknown) => void;
}

/** How much one write may hold; a call that is larger goes alone. */
export interface GroupLimits {
  readonly items: number;
  readonly bytes: number;
}

/**
 * One write after the other, each with all the calls that came while the last one was under way: a write costs more than
 * what is in it. Calls keep their order. Holds what callers wait for, and nothing else.
 */
export class GroupCommit<Item, Result> {
  readonly #limits: GroupLimits;
  readonly #write: (calls: readonly (readonly Item[])[]) => Promise<readonly (readonly Result[])[]>;
  #waiting: Call<Item, Result>[] = [];
  #writing = false;

  /** `write` resolves to the results of each call; what it rejects with, all of its calls are told. */
  constructor(
    limits: GroupLimits,
    write: (calls: readonly (readonly Item[])[]) => Promise<readonly (readonly Result[])[]>,
  ) {
    this.#limits = limits;
    this.#write = write;
  }

  add(items: readonly Item[], bytes = 0): Promise<readonly Result[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ items, bytes, resolve, reject });
      if (this.#writing) return;
      this.#writing = true;
      // What else this turn of the event loop brings goes with it.
      setImmediate(() => void this.#writeAll());
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const calls = this.#next();
      try {
        const results = await this.#write(calls.map(({ items }) => items));
        for (const [index, { resolve }] of calls.entries()) resolve(results[index] ?? []);
      } catch (error) {
        for (const { reject } of calls) reject(error);
      }
    }
    this.#writing = false;
  }

  #next(): readonly Call<Item, Result>[] {
    let [count, items, bytes] = [0, 0, 0];
    for (const call of this.#waiting) {
      items += call.items.length;
      bytes += call.bytes;
      if (count > 0 && (items > this.#limits.items || bytes > this.#limits.bytes)) break;
      count++;
    }
    const calls = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    return calls;
  }
}
