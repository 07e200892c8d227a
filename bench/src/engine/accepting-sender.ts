import type { Sender } from "@bridge/ports";

const ACCEPTED = Promise.resolve();

/** Takes every message at once. */
export class MicrotaskSender implements Sender {
  send(): Promise<void> {
    return ACCEPTED;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Takes, at the end of a turn of the event loop, what was sent in it: the window fills up, as it does with a network. */
export class TurnSender implements Sender {
  #waiting: (() => void)[] = [];

  send(): Promise<void> {
    if (this.#waiting.length === 0) setImmediate(() => this.#accept());
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #accept(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
