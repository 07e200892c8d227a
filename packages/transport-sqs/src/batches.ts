import type { Clock } from "@bridge/ports";

/** Without a reason of one's own the platform makes one, with a stack, each time. */
const NOTHING_LEFT = new Error("nothing waits any more");

/** The most entries of one batch request. */
export const MAX_ENTRIES = 10;

export interface BatchesOptions<Item> {
  /** Carries one batch; tells each item what became of it, and never rejects. */
  readonly run: (items: readonly Item[]) => Promise<void>;
  readonly sizeOf: (item: Item) => number;
  /** Whether an item is wanted no more. */
  readonly isGone: (item: Item) => boolean;
  /** How long an item waits for others while requests are under way. */
  readonly lingerMs: number;
  /** The most requests at a time. */
  readonly maxCalls: number;
  readonly clock: Clock;
}

/**
 * Makes batches of what comes in one at a time. What comes in one turn of the event loop goes together; while a request
 * is under way, what comes waits for a full batch, for the request's end, or for a few milliseconds.
 */
export class Batches<Item> {
  /** The most bytes of one batch. */
  maxBytes = Number.POSITIVE_INFINITY;
  readonly #options: BatchesOptions<Item>;
  #queue: Item[] = [];
  #bytes = 0;
  #calls = 0;
  #made = 0;
  #turn = false;
  #linger: AbortController | undefined;
  #idle = Promise.withResolvers<void>();

  constructor(options: BatchesOptions<Item>) {
    this.#options = options;
  }

  /** Requests that were made. */
  get made(): number {
    return this.#made;
  }

  /** Whether nothing waits and nothing is under way. */
  get isIdle(): boolean {
    return this.#queue.length === 0 && this.#calls === 0;
  }

  add(item: Item): void {
    this.#queue.push(item);
    this.#bytes += this.#options.sizeOf(item);
    if (this.#isFull) this.#send(false);
    if (this.#queue.length > 0) this.#arm();
  }

  /** Resolves when nothing waits and nothing is under way. */
  async whenIdle(): Promise<void> {
    while (!this.isIdle) await this.#idle.promise;
  }

  get #isFull(): boolean {
    return this.#queue.length >= MAX_ENTRIES || this.#bytes >= this.maxBytes;
  }

  #arm(): void {
    if (this.#calls === 0) {
      if (this.#turn) return;
      this.#turn = true;
      setImmediate(() => {
        this.#turn = false;
        this.#send(true);
      });
    } else if (this.#linger === undefined) {
      const linger = new AbortController();
      this.#linger = linger;
      void this.#options.clock.delay(this.#options.lingerMs, linger.signal).then(
        () => {
          this.#linger = undefined;
          this.#send(true);
        },
        () => {},
      );
    }
  }

  /** Sends full batches, and with `all` what is left. */
  #send(all: boolean): void {
    for (let more = true; more && this.#calls < this.#options.maxCalls;) {
      const batch = all || this.#isFull ? this.#take() : [];
      more = batch.length > 0;
      if (more) void this.#call(batch);
    }
    if (this.#queue.length === 0) {
      this.#linger?.abort(NOTHING_LEFT);
      this.#linger = undefined;
    }
    this.#tellIdle();
  }

  #take(): readonly Item[] {
    const { sizeOf, isGone } = this.#options;
    const batch: Item[] = [];
    let bytes = 0;
    let taken = 0;
    for (const item of this.#queue) {
      const size = sizeOf(item);
      const gone = isGone(item);
      if (!gone && (batch.length === MAX_ENTRIES || (batch.length > 0 && bytes + size > this.maxBytes))) break;
      taken++;
      this.#bytes -= size;
      if (gone) continue;
      bytes += size;
      batch.push(item);
    }
    this.#queue = this.#queue.slice(taken);
    return batch;
  }

  async #call(batch: readonly Item[]): Promise<void> {
    this.#calls++;
    this.#made++;
    try {
      await this.#options.run(batch);
    } finally {
      this.#calls--;
      this.#send(this.#calls === 0);
      if (this.#queue.length > 0) this.#arm();
    }
  }

  #tellIdle(): void {
    if (!this.isIdle) return;
    this.#idle.resolve();
    this.#idle = Promise.withResolvers();
  }
}
