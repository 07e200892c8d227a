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
  readonly #waiters = new Set<() => void>();
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

  /** Takes leave for one message: `undefined` when it is given at once; rejects with the signal's reason. */
  take(signal: AbortSignal): Promise<void> | undefined {
    if (this.unlimited) return undefined;
    if (this.#waiters.size === 0 && this.#wait() <= 0) {
      this.#enter();
      return undefined;
    }
    return this.#queue(signal);
  }

  /** Gives back the leave that was given last, which nothing has used. */
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
    return Math.max(0, room - this.#waiters.size);
  }

  /** Resolves when there is something {@link within} `ms`; rejects with the signal's reason. */
  async whenWithin(ms: number, signal: AbortSignal): Promise<void> {
    while (this.#limit !== undefined && this.within(ms) === 0) {
      const afterMs = this.#wait() + (this.#waiters.size * 1000) / this.#limit.messagesPerSecond - ms;
      // A limit that is changed, and waiters that give up, are seen then.
      await this.#clock.delay(Math.min(LOOK_MS, Math.max(GRAIN_MS, Math.ceil(afterMs))), signal);
    }
  }

  /** Milliseconds until the next message may go; 0 or less: now. */
  #wait(): number {
    if (this.#limit === undefined) return 0;
    const { messagesPerSecond, burst } = this.#limit;
    const tolerance = Math.max(((burst - 1) * 1000) / messagesPerSecond, GRAIN_MS);
    const now = this.#clock.monotonic();
    // A bucket that was full for long holds no more than one that has just become full.
    return Math.max(this.#fullAt, now) - now - tolerance;
  }

  #enter(): void {
    if (this.#limit === undefined) return;
    this.#fullAt = Math.max(this.#fullAt, this.#clock.monotonic()) + 1000 / this.#limit.messagesPerSecond;
  }

  #queue(signal: AbortSignal): Promise<void> {
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
        this.#waiters.delete(go);
        if (this.#waiters.size === 0) this.#rearm.abort();
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      this.#waiters.add(go);
      if (!this.#pumping) void this.#pump();
    });
  }

  /** Lets waiters go in turn until none is left. One timer, whatever their number. */
  async #pump(): Promise<void> {
    this.#pumping = true;
    for (let [next] = this.#waiters; next !== undefined; [next] = this.#waiters) {
      const wait = this.#wait();
      if (wait > 0) {
        this.#rearm = new AbortController();
        await this.#clock.delay(Math.ceil(wait), this.#rearm.signal).catch(() => {});
        continue;
      }
      this.#waiters.delete(next);
      this.#enter();
      next();
    }
    this.#pumping = false;
  }
}
