import type { RateLimiter } from "../control/rate-limiter.ts";
import type { Target } from "./route-parts.ts";
import type { Work } from "./work.ts";

interface Turns {
  readonly given: Promise<void> | undefined;
  areGiven: boolean;
}

/**
 * The turns that the legs of one message take before their first attempt. Legs that share a rate limit get theirs
 * together. One by one, impatient callers would leave in between, and each turn would be spent on part of a message
 * that is later sent again as a whole.
 */
export class FirstTurns {
  readonly #work: Work;
  readonly #targets: readonly Target[];
  readonly #taken = new Map<RateLimiter, Turns>();

  constructor(work: Work, targets: readonly Target[]) {
    this.#work = work;
    this.#targets = targets;
  }

  /** As {@link RateLimiter.take}, for one leg. If there are more legs than the burst allows, each takes a turn of its own. */
  take(rate: RateLimiter): Promise<void> | undefined {
    const taken = this.#taken.get(rate);
    if (taken !== undefined) return taken.given;
    const { signal } = this.#work;
    const legs = this.#targets.filter((target) => target.rate === rate).length;
    if (legs > rate.burst) return rate.take(signal);
    const given = rate.take(signal, legs);
    const turns: Turns = { given, areGiven: given === undefined };
    given?.then(
      () => (turns.areGiven = true),
      () => {},
    );
    this.#taken.set(rate, turns);
    return given;
  }

  /** A leg ends before taking its turn: returns the turn, if it was given, for the next leg. */
  passOver(rate: RateLimiter): void {
    if (this.#taken.get(rate)?.areGiven === true) rate.giveBack();
  }
}
