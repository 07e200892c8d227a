import type { Delivery, Receiver, SourceMessage } from "@bridge/ports";

const END: IteratorResult<Delivery> = { done: true, value: undefined };

/**
 * Makes a delivery whenever it is asked for one, so that nothing waits anywhere: a backlog of objects would measure the
 * collector of garbage.
 */
export class OnDemandReceiver implements Receiver {
  readonly #message: SourceMessage;
  #left = 0;
  #unsettled = 0;
  #done: (() => void) | undefined;
  #wanted: ((result: IteratorResult<Delivery>) => void) | undefined;

  constructor(message: SourceMessage) {
    this.#message = message;
  }

  /** Hands out so many more messages; resolves when all of them are settled. */
  run(messages: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#done = resolve;
    this.offer(messages);
    return promise;
  }

  /** Hands out so many more messages. */
  offer(messages: number): void {
    this.#left += messages;
    this.#unsettled += messages;
    const wanted = this.#wanted;
    this.#wanted = undefined;
    wanted?.(this.#next());
  }

  receive(signal: AbortSignal): AsyncIterable<Delivery> {
    signal.addEventListener("abort", () => this.#wanted?.(END), { once: true });
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#pull() }) };
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #pull(): Promise<IteratorResult<Delivery>> {
    if (this.#left > 0) return Promise.resolve(this.#next());
    return new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }

  #next(): IteratorResult<Delivery> {
    this.#left--;
    // A message of its own, as every source makes: engines like to keep what they are given.
    return { done: false, value: { message: { ...this.#message }, settle: () => this.#settle() } };
  }

  #settle(): void {
    if (--this.#unsettled === 0) this.#done?.();
  }
}
