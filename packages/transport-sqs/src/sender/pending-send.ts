import type { OutboundMessage } from "../message/outbound-message.ts";

/** One call of `send` that waits for its batch, or for the answer to it. */
export class PendingSend {
  readonly message: OutboundMessage;
  readonly done: Promise<void>;
  /** Nobody waits for it any more. */
  gone = false;
  /** The request that carries it. */
  request: SendRequest | undefined;
  readonly #signal: AbortSignal;
  readonly #resolvers = Promise.withResolvers<void>();

  constructor(message: OutboundMessage, signal: AbortSignal) {
    this.message = message;
    this.#signal = signal;
    this.done = this.#resolvers.promise;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  resolve(): void {
    this.#end();
    this.#resolvers.resolve();
  }

  reject(error: unknown): void {
    this.#end();
    this.#resolvers.reject(error);
  }

  readonly #onAbort = (): void => {
    this.reject(this.#signal.reason);
    this.request?.leave();
  };

  #end(): void {
    this.gone = true;
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}

/** A request on its way; it is broken off when the last of those that wait for it has left. */
export class SendRequest {
  readonly #controller = new AbortController();
  #waiting: number;

  constructor(sends: readonly PendingSend[]) {
    this.#waiting = sends.length;
    for (const send of sends) send.request = this;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  leave(): void {
    this.#waiting--;
    if (this.#waiting === 0) this.#controller.abort();
  }
}
