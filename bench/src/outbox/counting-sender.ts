import type { Sender } from "@bridge/ports";

const ACCEPTED = Promise.resolve();

/** Takes every message at once, and knows how many there were. */
export class CountingSender implements Sender {
  #accepted = 0;
  #goal = Infinity;
  #reached: (() => void) | undefined;

  get accepted(): number {
    return this.#accepted;
  }

  /** Resolves when it has taken so many in all. */
  async taken(messages: number): Promise<void> {
    if (this.#accepted >= messages) return;
    await new Promise<void>((resolve) => {
      this.#goal = messages;
      this.#reached = resolve;
    });
  }

  send(): Promise<void> {
    if (++this.#accepted === this.#goal) this.#reached?.();
    return ACCEPTED;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
