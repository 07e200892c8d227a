import { BridgeError, type Clock, type Delivery } from "@bridge/ports";
import type { Waiter } from "./channel-queue.ts";
import { type DeliveryTraits, Loan } from "./loan.ts";
import type { MemoryChannel } from "./memory-channel.ts";

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * One iteration of a receiver. It hands out messages while it is attached to its channel, waits while it is detached,
 * and ends when its signal aborts.
 *
 * Written by hand instead of as a generator: a result that is there costs one resolved promise.
 */
export class MemoryConsumer implements AsyncIterableIterator<Delivery, undefined>, Waiter {
  readonly clock: Clock;
  readonly #channel: MemoryChannel;
  readonly #traits: DeliveryTraits;
  readonly #signal: AbortSignal;
  readonly #onEnd: (consumer: MemoryConsumer) => void;
  readonly #pending: PromiseWithResolvers<IteratorResult<Delivery, undefined>>[] = [];
  #loan: Loan | undefined;
  #failure: BridgeError | undefined;
  #ended = false;

  constructor(
    channel: MemoryChannel,
    traits: DeliveryTraits,
    clock: Clock,
    signal: AbortSignal,
    onEnd: (consumer: MemoryConsumer) => void,
  ) {
    this.#channel = channel;
    this.#traits = traits;
    this.clock = clock;
    this.#signal = signal;
    this.#onEnd = onEnd;
    signal.addEventListener("abort", this.#end, { once: true });
    if (signal.aborted) this.#end();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Delivery, undefined>> {
    if (this.#pending.length === 0) {
      const delivery = this.#loan?.take();
      if (delivery !== undefined) return Promise.resolve({ done: false, value: delivery });
    }
    if (this.#failure !== undefined) {
      const failure = this.#failure;
      this.#failure = undefined;
      return Promise.reject(failure);
    }
    if (this.#ended) return Promise.resolve(DONE);
    const pending = Promise.withResolvers<IteratorResult<Delivery, undefined>>();
    this.#pending.push(pending);
    if (this.#loan !== undefined) this.#channel.queue.wait(this);
    return pending.promise;
  }

  return(): Promise<IteratorResult<Delivery, undefined>> {
    this.#end();
    return Promise.resolve(DONE);
  }

  /** Begins to hand out messages. */
  attach(): void {
    if (this.#ended || this.#loan !== undefined) return;
    this.#loan = new Loan(this.#channel, this.#traits, this.clock);
    this.wake();
  }

  /** Stops handing out messages until it is attached again; what is unsettled goes back. */
  detach(cause: BridgeError): void {
    this.#channel.queue.stopWaiting(this);
    const loan = this.#loan;
    this.#loan = undefined;
    loan?.end(cause);
  }

  /** Ends the iteration with an error. */
  fail(cause: BridgeError): void {
    if (this.#ended) return;
    const [first] = this.#pending.splice(0, 1);
    if (first === undefined) this.#failure = cause;
    else first.reject(cause);
    this.detach(cause);
    this.#end();
  }

  wake(): void {
    while (this.#pending.length > 0) {
      const delivery = this.#loan?.take();
      if (delivery === undefined) break;
      this.#pending.shift()?.resolve({ done: false, value: delivery });
    }
    if (this.#pending.length > 0 && this.#loan !== undefined) this.#channel.queue.wait(this);
  }

  readonly #end = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    this.#signal.removeEventListener("abort", this.#end);
    this.detach(new BridgeError("CONNECTION_LOST", `the receiver has left channel "${this.#channel.name}"`));
    for (const pending of this.#pending.splice(0)) pending.resolve(DONE);
    this.#onEnd(this);
  };
}
