import type { Delivery, Receiver } from "@bridge/ports";
import type { BrokerSession } from "./broker-session.ts";

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** Hands on what arrives over a session. Its buffer is bounded by the broker's window, and by what a resumed session brings. */
export class BrokerReceiver implements Receiver {
  readonly #session: BrokerSession;
  #buffer: { readonly delivery: Delivery; readonly taken: AbortSignal }[] = [];
  #waiting: ((result: IteratorResult<Delivery, undefined>) => void) | undefined;

  constructor(session: BrokerSession, id: string) {
    this.#session = session;
    session.subscriptions.add(id);
    session.taker = (delivery, taken) => this.#take(delivery, taken);
  }

  receive(signal: AbortSignal): AsyncIterable<Delivery> {
    return { [Symbol.asyncIterator]: () => this.#iterate(signal) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#session.taker = undefined;
    this.#buffer = [];
    this.#waiting?.(DONE);
    this.#waiting = undefined;
  }

  #iterate(signal: AbortSignal): AsyncIterator<Delivery, undefined> {
    const end = (): void => {
      this.#waiting?.(DONE);
      this.#waiting = undefined;
    };
    signal.addEventListener("abort", end, { once: true });
    return {
      next: () => {
        if (signal.aborted) return Promise.resolve(DONE);
        const value = this.#next();
        if (value !== undefined) return Promise.resolve({ done: false, value });
        return new Promise((resolve) => (this.#waiting = resolve));
      },
      return: async () => {
        signal.removeEventListener("abort", end);
        end();
        return DONE;
      },
    };
  }

  /** What a lost connection left here belongs to the broker again. */
  #next(): Delivery | undefined {
    for (;;) {
      const next = this.#buffer.shift();
      if (next?.taken.aborted !== true) return next?.delivery;
    }
  }

  #take(delivery: Delivery, taken: AbortSignal): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#buffer.push({ delivery, taken });
    else waiting({ done: false, value: delivery });
  }
}
