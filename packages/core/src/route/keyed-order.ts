/** A place in the queue of one key. */
export interface Turn {
  /** Resolves when all earlier holders have left. */
  readonly ready: Promise<void>;
  /** Lets the next holder go, but only after all earlier ones have left. */
  leave(): void;
}

/** Runs the holders of one key one after another, in order of arrival; different keys do not affect each other. */
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
