import type { Delivery } from "@bridge/ports";
import type { Backlog } from "./backlog.ts";
import type { Exchange } from "./exchange.ts";

const END: IteratorResult<never> = { done: true, value: undefined };

/** Between callers, who send when they like, and an engine that asks: the requests that are complete go from one to the other. */
export class Inbox {
  readonly #backlog: Backlog<Exchange>;
  readonly #onEnd: () => void;
  #accepting = false;
  #closed = false;
  #wanted: ((result: IteratorResult<Delivery>) => void) | undefined;
  #endIteration: (() => void) | undefined;

  /** `onEnd` is called whenever nothing is accepted any more. */
  constructor(backlog: Backlog<Exchange>, onEnd: () => void) {
    this.#backlog = backlog;
    this.#onEnd = onEnd;
  }

  /** From the opening until an iteration ends, and again while one is open. */
  get accepting(): boolean {
    return this.#accepting;
  }

  open(): void {
    this.#accepting = true;
  }

  /** For good. */
  close(): void {
    this.#closed = true;
    this.#endIteration?.();
    this.#stop();
  }

  /** The request is complete: it goes to the engine when that has asked, else it waits. */
  offer(exchange: Exchange): void {
    const wanted = this.#wanted;
    if (wanted === undefined) {
      if (exchange.reservation !== undefined) this.#backlog.keep(exchange, exchange.reservation);
      return;
    }
    const value = this.#take(exchange);
    if (value === undefined) return;
    this.#wanted = undefined;
    wanted({ done: false, value });
  }

  /** Gives back the room of a request that was handed out or has ended. */
  release(exchange: Exchange): void {
    if (exchange.reservation !== undefined) this.#backlog.release(exchange.reservation);
    exchange.reservation = undefined;
  }

  /** Hands requests out, one iteration at a time, until `signal` aborts or the inbox is closed. */
  receive(signal: AbortSignal): AsyncIterable<Delivery> {
    return { [Symbol.asyncIterator]: () => this.#iterate(signal) };
  }

  #iterate(signal: AbortSignal): AsyncIterator<Delivery> {
    const end = (): void => {
      if (this.#endIteration !== end) return;
      this.#endIteration = undefined;
      signal.removeEventListener("abort", end);
      this.#stop();
    };
    this.#endIteration = end;
    this.#accepting = true;
    signal.addEventListener("abort", end);
    if (signal.aborted || this.#closed) end();
    return {
      next: () => this.#next(),
      return: () => {
        end();
        return Promise.resolve(END);
      },
    };
  }

  /** Neither an async function nor a generator: each request would pay for their promises. */
  #next(): Promise<IteratorResult<Delivery>> {
    if (!this.#accepting) return Promise.resolve(END);
    for (let { first } = this.#backlog; first !== undefined; { first } = this.#backlog) {
      const value = this.#take(first);
      if (value !== undefined) return Promise.resolve({ done: false, value });
    }
    return new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }

  /** The message, which waits no more; `undefined` when nobody waits for the answer. */
  #take(exchange: Exchange): Delivery | undefined {
    this.release(exchange);
    return exchange.isWanted() ? exchange.delivery : undefined;
  }

  #stop(): void {
    this.#accepting = false;
    this.#wanted?.(END);
    this.#wanted = undefined;
    this.#onEnd();
  }
}
