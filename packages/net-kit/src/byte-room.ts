import { orAborted } from "@bridge/ports/internal";

interface Waiting {
  readonly bytes: number;
  readonly come: () => void;
}

/** Room for so many bytes, which is given in the order of asking. */
export class ByteRoom {
  readonly size: number;
  #taken = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(size: number) {
    this.size = size;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Resolves when there is room for `bytes`, at most {@link size}; what it resolves to gives it back. Rejects with the signal's reason. */
  async take(bytes: number, signal: AbortSignal): Promise<Disposable> {
    const { promise, resolve: come } = Promise.withResolvers<void>();
    const waiting = { bytes, come };
    this.#waiting.add(waiting);
    this.#give();
    try {
      await orAborted(promise, signal);
    } catch (reason) {
      // It may have come in the same moment as the end: somebody else has it then.
      if (!this.#waiting.delete(waiting)) this.#taken -= bytes;
      this.#give();
      throw reason;
    }
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#taken -= bytes;
        this.#give();
      },
    };
  }

  #give(): void {
    for (const next of this.#waiting) {
      if (this.#taken + next.bytes > this.size) return;
      this.#waiting.delete(next);
      this.#taken += next.bytes;
      next.come();
    }
  }
}
