import { orAborted } from "../async.ts";

/** Lets so many through at a time, in the order of asking, but for those who go first. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();
  /** They have their turn before the others. */
  readonly #first = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Resolves when it is the caller's turn, which one that `goesFirst` has before those that do not; what it resolves to ends the turn.
   * Rejects with the signal's reason.
   */
  async take(signal: AbortSignal, goesFirst = false): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal, goesFirst ? this.#first : this.#waiting);
    return { [Symbol.dispose]: () => this.#handOn() };
  }

  async #wait(signal: AbortSignal, waiting: Set<() => void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.add(resolve);
    try {
      await orAborted(promise, signal);
    } catch (reason) {
      // The turn may have come in the same moment as the end: somebody else has it then.
      if (!waiting.delete(resolve)) this.#handOn();
      throw reason;
    }
  }

  #handOn(): void {
    const waiting = this.#first.size > 0 ? this.#first : this.#waiting;
    const [next] = waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    waiting.delete(next);
    next();
  }
}
