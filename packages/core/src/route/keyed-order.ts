/** A place in the queue of one key. */
export interface Turn {
  /** Resolves when everybody who came before has left. */
  readonly ready: Promise<void>;
  /** Lets the next one go, but never past somebody who is still before. */
  leave(): void;
}

/** Runs holders of one key one after another, in the order in which they came; different keys do not meet. */
export class KeyedOrder {
  readonly #tails = new Map<string, Promise<void>>();

  get size(): number {
    return this.#tails.size;
  }

  enter(key: string): Turn {
    const ready = this.#tails.get(key) ?? Promise.resolve();
    const left = Promise.withResolvers<void>();
    // A holder may leave before its turn; the next one then still waits for those before both.
    const tail = ready.then(() => left.promise);
    this.#tails.set(key, tail);
    void tail.then(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
    return { ready, leave: left.resolve };
  }
}
