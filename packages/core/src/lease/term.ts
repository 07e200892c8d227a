import { BridgeError, type Clock } from "@bridge/ports";

/**
 * Rates of two machines' clocks may differ by this much: the holder takes its time for shorter than takers do. Far more
 * than what keeps time on machines allows itself.
 */
const CLOCK_DRIFT = 0.01;

/** A moment as both clocks of this machine show it, in milliseconds. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

export function instantOf(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/**
 * One holding of a lease, from its acquisition to its end; there is no way back. Everything that is done under the lease
 * asks its term first, by this machine's own clocks: a process that was frozen, or whose event loop was held up, finds
 * out before it does anything more. By both of them: the monotonic one may stand still while a virtual machine does, and the
 * other one may be set, so that the time is over when either says so.
 */
export class Term {
  /** Grows with every acquisition, whoever acquires. */
  readonly token: number;
  readonly #clock: Clock;
  readonly #end = new AbortController();
  readonly #idle = Promise.withResolvers<void>();
  #users = 0;
  #until: Instant;
  #wanted = Promise.withResolvers<void>();
  #renewed: PromiseWithResolvers<void> | undefined;

  /** `startedAt`: when the write began that took the lease. */
  constructor(clock: Clock, token: number, startedAt: Instant, ttlMs: number) {
    this.token = token;
    this.#clock = clock;
    this.#until = deadlineOf(startedAt, ttlMs);
  }

  /** Aborts when the term ends. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  get ended(): boolean {
    return this.#end.signal.aborted;
  }

  /** Whether anything may still be done under it, such as to settle or to persist. Ends it when its time is over. */
  get live(): boolean {
    return this.lasts(0);
  }

  /**
   * Whether it lasts for `ms` more, so that what takes that long at most may begin. When it does not and is not over,
   * it is asked to be renewed: {@link whenRenewed}.
   */
  lasts(ms: number): boolean {
    if (this.ended) return false;
    const now = instantOf(this.#clock);
    const leftMs = Math.min(this.#until.monotonic - now.monotonic, this.#until.wall - now.wall);
    if (leftMs > ms) return true;
    if (leftMs <= 0) this.end();
    else this.#wanted.resolve();
    return false;
  }

  /** Resolves when it has been renewed or has ended. */
  get whenRenewed(): Promise<void> {
    if (this.ended) return Promise.resolve();
    this.#renewed ??= Promise.withResolvers();
    return this.#renewed.promise;
  }

  /** Resolves when somebody had to wait because it does not last long enough. */
  get wanted(): Promise<void> {
    return this.#wanted.promise;
  }

  /** `startedAt`: when the write began that renewed it. */
  renew(startedAt: Instant, ttlMs: number): void {
    this.#until = deadlineOf(startedAt, ttlMs);
    this.#wanted = Promise.withResolvers();
    this.#tellWaiting();
  }

  /** From now on nothing may be done under it. */
  end(): void {
    if (this.ended) return;
    this.#end.abort(new BridgeError("UNAVAILABLE", "the lease has ended", { charged: false }));
    this.#tellWaiting();
    if (this.#users === 0) this.#idle.resolve();
  }

  /** Runs what has something open under the term. */
  async use(run: () => Promise<void>): Promise<void> {
    this.#users++;
    try {
      await run();
    } finally {
      if (--this.#users === 0 && this.ended) this.#idle.resolve();
    }
  }

  /** Resolves when it has ended and nothing is open under it any more. */
  get whenIdle(): Promise<void> {
    return this.#idle.promise;
  }

  #tellWaiting(): void {
    this.#renewed?.resolve();
    this.#renewed = undefined;
  }
}

function deadlineOf({ monotonic, wall }: Instant, ttlMs: number): Instant {
  const lastsMs = ttlMs * (1 - CLOCK_DRIFT);
  return { monotonic: monotonic + lastsMs, wall: wall + lastsMs };
}
