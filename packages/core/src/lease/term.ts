import { BridgeError, type Clock } from "@bridge/ports";

/**
 * The rates of two machines' clocks may differ by this fraction, so the holder counts its time shorter than takers do.
 * Far more than real clocks drift.
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
 * One holding of a lease, from acquisition to end; an ended term never resumes. Everything done under the lease checks
 * its term first, by this machine's own clocks, so a process that was frozen, or whose event loop was blocked, notices
 * before it does anything more. The term uses both clocks, because the monotonic one may stop while a virtual machine
 * is paused, and the time of day may be set: the term is over when either says so.
 */
export class Term {
  /** Grows with every acquisition, by any instance. */
  readonly token: number;
  readonly #clock: Clock;
  readonly #end = new AbortController();
  readonly #idle = Promise.withResolvers<void>();
  #users = 0;
  #until: Instant;
  #wanted = Promise.withResolvers<void>();
  #renewed: PromiseWithResolvers<void> | undefined;

  /** `startedAt`: the start of the write that took the lease. */
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

  /** Whether anything, such as settling or persisting, may still be done under it. Ends the term if its time is over. */
  get live(): boolean {
    return this.lasts(0);
  }

  /**
   * Whether it lasts for `ms` more, so that something that takes up to that long may begin. If it does not, and is not
   * over, requests a renewal: {@link whenRenewed}.
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

  /** Resolves when the term is renewed or ends. */
  get whenRenewed(): Promise<void> {
    if (this.ended) return Promise.resolve();
    this.#renewed ??= Promise.withResolvers();
    return this.#renewed.promise;
  }

  /** Resolves when somebody needs the term to last longer. */
  get wanted(): Promise<void> {
    return this.#wanted.promise;
  }

  /** `startedAt`: the start of the write that renewed it. */
  renew(startedAt: Instant, ttlMs: number): void {
    this.#until = deadlineOf(startedAt, ttlMs);
    this.#wanted = Promise.withResolvers();
    this.#tellWaiting();
  }

  /** Ends the term: nothing more may be done under it. */
  end(): void {
    if (this.ended) return;
    this.#end.abort(new BridgeError("UNAVAILABLE", "the lease has ended", { charged: false }));
    this.#tellWaiting();
    if (this.#users === 0) this.#idle.resolve();
  }

  /** Runs something that keeps a resource open under the term. */
  async use(run: () => Promise<void>): Promise<void> {
    this.#users++;
    try {
      await run();
    } finally {
      if (--this.#users === 0 && this.ended) this.#idle.resolve();
    }
  }

  /** Resolves when the term has ended and nothing is open under it. */
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
