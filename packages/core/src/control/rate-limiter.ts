import type { RateLimit } from "@bridge/config";
import type { Clock } from "@bridge/ports";

/** Timers are no finer than this, so a shorter burst could not be kept apart from the rate. */
const GRAIN_MS = 10;

/** So often is looked again whether there is room. */
const LOOK_MS = 1_000;

/**
 * Lets messages through at a rate, with bursts up to a size, in the order in which they asked. The limit can be changed
 * while messages wait: they go by the new one at once.
 *
 * It keeps one number, the time at which the bucket would be full again (generic cell rate algorithm), so that nothing
 * has to tick while nobody waits.
 */
export class RateLimiter {
  readonly #clock: Clock;
  /** For how many messages each asks. */
  readonly #waiters = new Map<() => void, number>();
  /** All of them. */
  #waiting = 0;
  #limit: RateLimit | undefined;
  /** Monotonic milliseconds. */
  #fullAt = 0;
  #rearm = new AbortController();
  #pumping = false;

  constructor(clock: Clock, limit?: RateLimit) {
    this.#clock = clock;
    this.#limit = limit;
  }

  /** `undefined` lets everything through. */
  set limit(limit: RateLimit | undefined) {
    if (limit?.messagesPerSecond === this.#limit?.messagesPerSecond && limit?.burst === this.#limit?.burst) return;
    // A bucket starts full, also when it replaces another.
    this.#limit = limit;
    this.#fullAt = 0;
    this.#rearm.abort();
  }

  /** Whether {@link take} lets everything through, so that nobody needs to ask, nor to have a signal to ask with. */
  get unlimited(): boolean {
    return this.#limit === undefined && this.#waiters.size === 0;
  }

  /** Whether messages wait for their turn. */
  get limiting(): boolean {
    return this.#waiters.size > 0;
  }

  /** How many may go at once. */
  get burst(): number {
    return this.#limit?.burst ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Takes leave for `count` messages, which go at once, and are no more than the burst: `undefined` when it is given at once; rejects with
   * the signal's reason.
   */
  take(signal: AbortSignal, count = 1): Promise<void> | undefined {
    if (this.unlimited) return undefined;
    if (this.#waiters.size === 0 && this.#wait(count) <= 0) {
      this.#enter(count);
      return undefined;
    }
    return this.#queue(signal, count);
  }

  /** Gives back the leave for one message that was given last, which nothing has used. */
  giveBack(): void {
    if (this.#limit === undefined) return;
    this.#fullAt -= 1000 / this.#limit.messagesPerSecond;
    this.#rearm.abort();
  }

  /** How many messages that ask now would be let through within `ms`, after those that wait. */
  within(ms: number): number {
    if (this.#limit === undefined) return Number.POSITIVE_INFINITY;
    const { messagesPerSecond } = this.#limit;
    const room = Math.floor(((ms - this.#wait()) * messagesPerSecond) / 1000) + 1;
    return Math.max(0, room - this.#waiting);
  }

  /** Resolves when there is something {@link within} `ms`; rejects with the signal's reason. */
  async whenWithin(ms: number, signal: AbortSignal): Promise<void> {
    while (this.#limit !== undefined && this.within(ms) === 0) {
      const afterMs = this.#wait() + (this.#waiting * 1000) / this.#limit.messagesPerSecond - ms;
      // A limit that is changed, and waiters that give up, are seen then.
      await this.#clock.delay(Math.min(LOOK_MS, Math.max(GRAIN_MS, Math.ceil(afterMs))), signal);
    }
  }

  /** Milliseconds until the next `count` messages may go; 0 or less: now. */
  #wait(count = 1): number {
    if (this.#limit === undefined) return 0;
    const { messagesPerSecond, burst } = this.#limit;
    const forOne = Math.max(((burst - 1) * 1000) / messagesPerSecond, GRAIN_MS);
    // More than a burst, which was smaller when they asked, go when the bucket is full.
    const tolerance = Math.max(0, forOne - ((count - 1) * 1000) / messagesPerSecond);
    const now = this.#clock.monotonic();
    // A bucket that was full for long holds no more than one that has just become full.
    return Math.max(this.#fullAt, now) - now - tolerance;
  }

  #enter(count: number): void {
    if (this.#limit === undefined) return;
    const { messagesPerSecond } = this.#limit;
    this.#fullAt = Math.max(this.#fullAt, this.#clock.monotonic()) + (count * 1000) / messagesPerSecond;
  }

  #queue(signal: AbortSignal, count: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const go = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#leave(go, count);
        // Whoever is the first now may need less.
        this.#rearm.abort();
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.set(go, count);
      this.#waiting += count;
      if (!this.#pumping) void this.#pump();
    });
  }

  #leave(waiter: () => void, count: number): void {
    this.#waiters.delete(waiter);
    this.#waiting -= count;
  }

  /** Lets waiters go in turn until none is left. One timer, whatever their number. */
  async #pump(): Promise<void> {
    this.#pumping = true;
    for (let [next] = this.#waiters; next !== undefined; [next] = this.#waiters) {
      const [go, count] = next;
      const wait = this.#wait(count);
      if (wait > 0) {
        this.#rearm = new AbortController();
        await this.#clock.delay(Math.ceil(wait), this.#rearm.signal).catch(() => {});
        continue;
      }
      this.#leave(go, count);
      this.#enter(count);
      go();
    }
    this.#pumping = false;
  }
}
