import type { RateLimiter } from "../control/rate-limiter.ts";
import type { Target } from "./route-parts.ts";
import type { Work } from "./work.ts";

interface Turns {
  readonly given: Promise<void> | undefined;
  areGiven: boolean;
}

/**
 * The turns that the legs of one message take before their first attempt. Those that share a limit get theirs together: one by one,
 * callers with little patience would leave in between, and each turn would go to a part of a message that is sent again as a whole.
 */
export class FirstTurns {
  readonly #work: Work;
  readonly #targets: readonly Target[];
  readonly #taken = new Map<RateLimiter, Turns>();

  constructor(work: Work, targets: readonly Target[]) {
    this.#work = work;
    this.#targets = targets;
  }

  /** As {@link RateLimiter.take}, for one leg. Of more legs than may go at once each takes a turn of its own. */
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

  /** A leg ends before it has come for its turn: if there is one, it is the next one's. */
  passOver(rate: RateLimiter): void {
    if (this.#taken.get(rate)?.areGiven === true) rate.giveBack();
  }
}
