import { Fifo } from "./fifo.ts";

const END: IteratorResult<never> = { done: true, value: undefined };

/**
 * Between a broker that pushes and an engine that asks: what nobody has asked for yet waits here, in its order. How much
 * may wait is for the protocol's window to bound, and for the owner.
 */
export class Inbox<Item> implements Disposable {
  readonly #waiting = new Fifo<Item>();
  readonly #onTaken: (item: Item) => void;
  #wanted: ((result: IteratorResult<Item>) => void) | undefined;
  #endIteration: (() => void) | undefined;
  #disposed = false;

  /** `onTaken` is told of each item that has waited and is now handed out. */
  constructor(onTaken: (item: Item) => void = () => {}) {
    this.#onTaken = onTaken;
  }

  /** How many wait. */
  get size(): number {
    return this.#waiting.size;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  /** Hands an item over, at once when one is asked for; otherwise it waits, and the answer is `true`. */
  push(item: Item): boolean {
    const wanted = this.#wanted;
    if (wanted === undefined) {
      this.#waiting.push(item);
      return true;
    }
    this.#wanted = undefined;
    wanted({ done: false, value: item });
    return false;
  }

  /** Takes out everything that waits and that `condition` holds for. */
  remove(condition: (item: Item) => boolean): readonly Item[] {
    return this.#waiting.remove(condition);
  }

  /** Yields items until `signal` aborts or the inbox is disposed. One iteration at a time; what waits stays for the next. */
  receive(signal: AbortSignal): AsyncIterable<Item> {
    return { [Symbol.asyncIterator]: () => this.#iterate(signal) };
  }

  /** Ends the iteration. What still waits stays until it is removed. */
  [Symbol.dispose](): void {
    this.#disposed = true;
    this.#endIteration?.();
  }

  #iterate(signal: AbortSignal): AsyncIterator<Item> {
    let ended = signal.aborted || this.#disposed;
    const end = (): void => {
      if (ended) return;
      ended = true;
      signal.removeEventListener("abort", end);
      this.#endIteration = undefined;
      this.#wanted?.(END);
      this.#wanted = undefined;
    };
    if (!ended) {
      signal.addEventListener("abort", end);
      this.#endIteration = end;
    }
    return {
      next: () => {
        if (ended) return Promise.resolve(END);
        if (this.#waiting.size === 0) return this.#next();
        const item = this.#waiting.shift() as Item;
        this.#onTaken(item);
        return Promise.resolve({ done: false, value: item });
      },
      return: () => {
        end();
        return Promise.resolve(END);
      },
    };
  }

  #next(): Promise<IteratorResult<Item>> {
    return new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }
}
