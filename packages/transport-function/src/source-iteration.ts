import type { Delivery, Logger } from "@bridge/ports";
import type { Feed, FeedReader } from "./feed.ts";
import type { HeldDeliveries } from "./held-deliveries.ts";
import type { Yielded } from "./yielded.ts";

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

export interface SourceIterationParts {
  readonly feed: Feed;
  readonly held: HeldDeliveries;
  readonly logger: Logger;
  /** Called once. */
  readonly onEnd: (iteration: SourceIteration, failed: boolean) => void;
}

/** One iteration of a receiver: asks the feed when it is asked, and ends when its signal aborts. */
export class SourceIteration implements AsyncIterableIterator<Delivery, undefined>, FeedReader {
  readonly #parts: SourceIterationParts;
  readonly #signal: AbortSignal;
  readonly #pending: PromiseWithResolvers<IteratorResult<Delivery, undefined>>[] = [];
  #ended = false;
  #failed = false;

  constructor(parts: SourceIterationParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
    if (signal.aborted) this.#ended = true;
    else signal.addEventListener("abort", this.#end, { once: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Delivery, undefined>> {
    if (this.#ended) return Promise.resolve(DONE);
    const pending = Promise.withResolvers<IteratorResult<Delivery, undefined>>();
    this.#pending.push(pending);
    this.#parts.feed.wait(this, this.#parts.logger);
    return pending.promise;
  }

  return(): Promise<IteratorResult<Delivery, undefined>> {
    if (!this.#ended) this.#end();
    return Promise.resolve(DONE);
  }

  give(yielded: Yielded): void {
    this.#pending.shift()?.resolve({ done: false, value: this.#parts.held.handOut(yielded) });
  }

  /** The source has failed. What it has handed out stays under way, unless the signal aborts before {@link replaced}. */
  fail(error: unknown): void {
    this.#failed = true;
    this.#pending.shift()?.reject(error);
    this.#close(true);
  }

  /** Another iteration has begun, or none will. */
  replaced(): void {
    this.#signal.removeEventListener("abort", this.#end);
  }

  readonly #end = (): void => {
    if (this.#ended && !this.#failed) return;
    const { feed, held, logger } = this.#parts;
    this.replaced();
    if (!this.#ended) this.#close(false);
    feed.handBack(held.takeBack(), logger);
  };

  #close(failed: boolean): void {
    this.#ended = true;
    this.#parts.feed.leave(this);
    for (const pending of this.#pending.splice(0)) pending.resolve(DONE);
    this.#parts.onEnd(this, failed);
  }
}
