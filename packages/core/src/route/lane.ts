import type { LastFailure } from "../accounting/leg-account.ts";
import { type Attempts, FAILURES, type LaneFacts, mostRefused, NEWS_MS } from "../view/progress.ts";

/** Counters that only grow, and the work at hand; read a few times a second. */
export interface LaneSource {
  readonly name: string;
  readonly work: number;
  readonly ended: number;
  readonly delivered: number;
  readonly refused: number;
  readonly unanswered: number;
  readonly failure: LastFailure | undefined;
  readonly limited: boolean;
}

interface Sample extends Attempts {
  readonly at: number;
}

const SECOND = 1_000;
/** After a gap this long between looks, the process or its machine must have stood still, and the route with it. */
const ASLEEP_MS = 5 * SECOND;
/** Samples are at least a second apart, so this many cover the last minute. */
const KEPT = 61;
const RECENT_MS = 10 * SECOND;
const MINUTE_MS = 60 * SECOND;
const NONE: Attempts = { delivered: 0, refused: 0, unanswered: 0 };

/** Watches one part of a route's work from outside, so that messages do not pay for it. */
export class Lane {
  readonly #source: LaneSource;
  /** Oldest first. */
  readonly #samples: [Sample, ...Sample[]];
  #ended: number;
  #delivered: number;
  #seenAt: number;
  /** When a look last found no work, or found that something had ended; monotonic milliseconds. */
  #freeAt: number;
  #endedAt = -Infinity;
  /** When something was last delivered, or a look found nothing to deliver. */
  #deliveredAt: number;
  /** How long deliveries have been in vain since then, and for how much of that there was work, as far as looks can tell. */
  #undeliveredMs = 0;
  #workedMs = 0;
  #recent = NONE;
  /** When a look last found that an attempt had ended. */
  #triedAt = -Infinity;
  /** How many attempts had failed at that delivery, and how many at the last look. */
  #failedBefore: number;
  #failed: number;

  /** `now` and `at`, here and below: monotonic milliseconds. */
  constructor(source: LaneSource, now: number) {
    this.#source = source;
    this.#ended = source.ended;
    this.#delivered = source.delivered;
    this.#failedBefore = this.#failed = failuresOf(source);
    this.#freeAt = this.#deliveredAt = this.#seenAt = now;
    this.#samples = [sampleOf(source, now)];
  }

  look(now: number): void {
    const source = this.#source;
    const { work, ended, delivered } = source;
    const failed = failuresOf(source);
    const passedMs = now - this.#seenAt;
    const slept = passedMs >= ASLEEP_MS;
    const isDelivered = delivered !== this.#delivered;
    const isFailed = failed !== this.#failed;
    // New events happened between the last look and now. Date them to the last look, so that a standstill is noticed in
    // time.
    if (ended !== this.#ended) [this.#ended, this.#endedAt, this.#freeAt] = [ended, this.#seenAt, this.#seenAt];
    if (work === 0 || slept) this.#freeAt = now;
    if (isDelivered) {
      [this.#delivered, this.#deliveredAt, this.#failedBefore] = [delivered, this.#seenAt, this.#failed];
      this.#undeliveredMs = this.#workedMs = 0;
    }
    if (!slept && (work > 0 || isFailed)) this.#workedMs += passedMs;
    // After a failure, no work may only mean that the source holds the message until the next attempt, which the next
    // failure shows.
    if (isFailed) this.#undeliveredMs = now - this.#deliveredAt;
    else if (work > 0) this.#undeliveredMs += passedMs;
    this.#failed = failed;
    const failure = this.#failure(now);
    if (work === 0 && (failure === undefined || failure.agoMs >= NEWS_MS)) {
      [this.#deliveredAt, this.#failedBefore] = [now, failed];
      this.#undeliveredMs = this.#workedMs = 0;
    }
    this.#remember(now, isDelivered, isDelivered || isFailed);
    this.#seenAt = now;
    const newest = this.#samples.at(-1) ?? this.#samples[0];
    if (now - newest.at < SECOND) return;
    this.#samples.push(sampleOf(source, now));
    if (this.#samples.length > KEPT) this.#samples.shift();
  }

  lively(now: number): boolean {
    return now - this.#endedAt < RECENT_MS;
  }

  facts(now: number): LaneFacts {
    const { name, work, limited } = this.#source;
    return {
      name,
      work,
      limited,
      quietMs: now - this.#freeAt,
      undeliveredMs: this.#undeliveredMs,
      workedMs: this.#workedMs,
      failure: this.#failure(now),
      recent: this.#recent,
    };
  }

  lastMinute(now: number): Attempts {
    return this.#since(now - MINUTE_MS);
  }

  /** Update only when an attempt ends: as older attempts leave the ten seconds, the remainder tells nothing new. */
  #remember(now: number, isDelivered: boolean, isTried: boolean): void {
    const inVain = (this.#failure(now)?.times ?? 0) >= FAILURES;
    if (isTried) {
      this.#triedAt = now;
      const recent = this.#since(now - RECENT_MS);
      if (!inVain || isDelivered || mostRefused(recent)) this.#recent = recent;
    }
    if (now - this.#triedAt >= (inVain ? NEWS_MS : RECENT_MS)) this.#recent = NONE;
  }

  #failure(now: number): LaneFacts["failure"] {
    const { failure, delivered } = this.#source;
    if (failure === undefined || failure.delivered !== delivered) return undefined;
    const times = failuresOf(this.#source) - this.#failedBefore;
    if (times === 0) return undefined;
    return { code: failure.code, error: failure.error, agoMs: now - failure.at, times };
  }

  #since(at: number): Attempts {
    const { delivered, refused, unanswered } = this.#source;
    const before = this.#samples.findLast((sample) => sample.at <= at) ?? this.#samples[0];
    return {
      delivered: delivered - before.delivered,
      refused: refused - before.refused,
      unanswered: unanswered - before.unanswered,
    };
  }
}

function failuresOf({ refused, unanswered }: LaneSource): number {
  return refused + unanswered;
}

function sampleOf({ delivered, refused, unanswered }: LaneSource, at: number): Sample {
  return { at, delivered, refused, unanswered };
}
