/**
 * All who look on have one part in so many of the event loop's time, at most, for making text of what they are shown. To copy it
 * before and to write it then takes about as long: a tenth in all.
 */
const PARTS = 20;
/** While one rests, so much is kept as takes so long to show. */
const AT_ONCE_MS = 5;
/** So many messages a second are kept in any case, however long the others took. */
const ALWAYS_PER_S = 5;
/** One who was shown little may be shown so much more at once: what takes long by chance is no reason to leave out what comes next. */
const SAVED_MS = 20;
/** What one has used is known by measuring, and that may be wrong: nobody is to wait long for it. */
const MAX_REST_MS = 5_000;
/** How slow the machine is shows in so much use. */
const OBSERVED_MS = 100;

/** Multiples of it are spread evenly between the whole numbers. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** What showing something has cost the event loop, in milliseconds. */
export interface ShownUse {
  /** Processor time. */
  readonly usedMs: number;
  /** How long that took: on a busy machine longer, as it does something else meanwhile. */
  readonly tookMs: number;
}

/** How one who looks on goes on after it was shown something. */
export interface Rest {
  readonly ms: number;
  /** How many messages are kept meanwhile. */
  readonly kept: number;
}

/**
 * What all who look on in a process may use of its event loop. Each has the same share, by itself: one who is shown little never
 * waits because another one is shown much.
 */
export class TapShare {
  /** So many look on. */
  open = 0;
  #phases = 0;
  /** Of late, of all who look on. */
  #usedMs = OBSERVED_MS / 10;
  #tookMs = OBSERVED_MS / 10;

  /** From 0 to 1: when in each period the next one who looks on is shown something. Those of several are far from each other. */
  nextPhase(): number {
    return (this.#phases++ * GOLDEN) % 1;
  }

  /** A share, used from `now` on, in monotonic milliseconds. */
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

  /** In how much time one may use so much. Of a second the event loop has less, the longer the machine lets it wait. */
  timeFor(usedMs: number): number {
    return usedMs * PARTS * this.open * (this.#tookMs / this.#usedMs);
  }
}

/** The share of one who looks on, and what it has used of that. */
export class TapAccount {
  readonly #share: TapShare;
  /** What it has used beyond its share; below 0, what is left of it. */
  #owedMs = 0;
  #at: number;

  constructor(share: TapShare, now: number) {
    this.#share = share;
    this.#at = now;
  }

  /** So many messages were shown by `now`, at this cost. */
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
