import { orAborted } from "../async.ts";

/** Lets so many through at a time, in the order of asking. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when it is the caller's turn; what it resolves to ends the turn. Rejects with the signal's reason. */
  async take(signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#wait(signal);
    return { [Symbol.dispose]: () => this.#handOn() };
  }

  async #wait(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await orAborted(promise, signal);
    } catch (reason) {
      // The turn may have come in the same moment as the end: somebody else has it then.
      if (!this.#waiting.delete(resolve)) this.#handOn();
      throw reason;
    }
  }

  #handOn(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
