import type { Clock, Delivery, Logger, Receiver } from "@bridge/ports";
import type { Feed } from "./feed.ts";
import { HeldDeliveries } from "./held-deliveries.ts";
import { SourceIteration } from "./source-iteration.ts";

/** A source that has failed and is asked for so long without failing again is there, though it has nothing to say. */
const PRESENT_AFTER_MS = 5_000;

/** Takes messages from a source in code. */
export class FunctionReceiver implements Receiver {
  readonly #feed: Feed;
  readonly #held: HeldDeliveries;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #open = new Set<SourceIteration>();
  /** The last iteration, if the source failed in it. */
  #failed: SourceIteration | undefined;
  #disposed: Promise<void> | undefined;

  constructor(feed: Feed, { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#feed = feed;
    this.#held = new HeldDeliveries(feed, clock, logger);
    this.#clock = clock;
    this.#logger = logger;
  }

  receive(signal: AbortSignal, present?: () => void): AsyncIterable<Delivery> {
    return { [Symbol.asyncIterator]: () => this.#iterate(signal, present) };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#disposed ??= this.#dispose());
  }

  async #dispose(): Promise<void> {
    for (const iteration of this.#open) void iteration.return();
    this.#feed.handBack(this.#held.takeBack(), this.#logger);
    this.#failed?.replaced();
    await this.#feed.end(this, this.#clock, this.#logger);
  }

  #iterate(signal: AbortSignal, present: (() => void) | undefined): SourceIteration {
    const over = new AbortController();
    const iteration = new SourceIteration(
      {
        feed: this.#feed,
        held: this.#held,
        logger: this.#logger,
        onEnd: (ended, failed) => {
          this.#open.delete(ended);
          this.#failed = failed ? ended : undefined;
          over.abort();
        },
      },
      signal,
    );
    if (signal.aborted) return iteration;
    this.#open.add(iteration);
    if (this.#disposed !== undefined) {
      void iteration.return();
      return iteration;
    }
    this.#feed.use(this);
    if (this.#failed !== undefined) {
      this.#failed.replaced();
      if (present !== undefined) this.#clock.delay(PRESENT_AFTER_MS, over.signal).then(present, () => {});
    }
    return iteration;
  }
}
