/**
 * All taps together may spend at most one part in `PARTS` of the event loop's time on rendering messages. Copying them
 * before and writing them afterwards takes about as long again: a tenth in all.
 */
const PARTS = 20;
/** While a tap rests, it keeps as many messages as can be rendered in this time. */
const AT_ONCE_MS = 5;
/** This many messages a second are kept in any case, however long earlier ones took. */
const ALWAYS_PER_S = 5;
/** How much a tap can save up: a tap that has shown little is not cut off by one message that happens to be slow. */
const SAVED_MS = 20;
/** The longest rest: usage is measured, and the measurement may be wrong, so nobody waits longer than this. */
const MAX_REST_MS = 5_000;
/** The amount of usage over which the slowness of the machine is observed. */
const OBSERVED_MS = 100;

/** The fractional parts of its multiples are spread evenly from 0 to 1. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** What rendering has cost the event loop, in milliseconds. */
export interface ShownUse {
  /** Processor time. */
  readonly usedMs: number;
  /** Elapsed time: longer than `usedMs` on a busy machine, which also does other work. */
  readonly tookMs: number;
}

/** How a tap goes on after it was shown something. */
export interface Rest {
  readonly ms: number;
  /** How many messages it keeps while it rests. */
  readonly kept: number;
}

/**
 * What all taps of a process may use of its event loop. Each has an equal share of its own: a tap that is shown little
 * never waits because another is shown much.
 */
export class TapShare {
  /** The number of open taps. */
  open = 0;
  #phases = 0;
  /** Recent usage of all taps. */
  #usedMs = OBSERVED_MS / 10;
  #tookMs = OBSERVED_MS / 10;

  /** The phase of the next tap within each period, from 0 to 1. The phases of several taps are far apart. */
  nextPhase(): number {
    return (this.#phases++ * GOLDEN) % 1;
  }

  /** Opens a share, used from `now` on, in monotonic milliseconds. */
  account(now: number): TapAccount {
    return new TapAccount(this, now);
  }

  observe({ usedMs, tookMs }: ShownUse): void {
    this.#usedMs += usedMs;
    this.#tookMs += tookMs;
    if (this.#usedMs < OBSERVED_MS) return;
    this.#usedMs /= 2;
    this.#tookMs /= 2;
  }

  /**
   * The elapsed time over which a tap may use `usedMs`. Longer on a busy machine, where the event loop gets less of
   * each second.
   */
  timeFor(usedMs: number): number {
    return usedMs * PARTS * this.open * (this.#tookMs / this.#usedMs);
  }
}

/** One tap's share, and how much of it is used. */
export class TapAccount {
  readonly #share: TapShare;
  /** Usage beyond the share; if negative, what is saved up. */
  #owedMs = 0;
  #at: number;

  constructor(share: TapShare, now: number) {
    this.#share = share;
    this.#at = now;
  }

  /** Records that `messages` were shown by `now` at this cost. */
  used(use: ShownUse, messages: number, now: number): Rest {
    this.#share.observe(use);
    const partMs = 1 / this.#share.timeFor(1);
    this.#owedMs = use.usedMs + Math.max(-SAVED_MS, this.#owedMs - (now - this.#at) * partMs);
    this.#owedMs = Math.min(this.#owedMs, MAX_REST_MS * partMs);
    this.#at = now;
    const restMs = Math.max(0, this.#share.timeFor(this.#owedMs));
    const atOnce = messages === 0 ? 0 : Math.floor((AT_ONCE_MS * messages) / use.usedMs);
    return { ms: restMs, kept: Math.max(1, atOnce, Math.ceil((ALWAYS_PER_S * restMs) / 1_000)) };
  }
}
