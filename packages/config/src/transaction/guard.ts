import type { Clock, ProbationGuard, Reversal } from "@bridge/ports";
import type { Trial } from "./applier.ts";

/** What has just been swapped in is still connecting. */
const SETTLING_MS = 10_000;

/** Says when what is tried out does harm. */
export class Guard {
  readonly #guard: ProbationGuard;
  readonly #routes: readonly string[];
  readonly #trial: Trial;
  readonly #clock: Clock;
  readonly #begins: number;
  readonly #before: ReturnType<Trial["sends"]>;
  /** Since when the level is missed, on the clock that never jumps. */
  #below: number | undefined;

  /** To be made when the change is in force: what was sent before does not count. */
  constructor(guard: ProbationGuard, routes: readonly string[], trial: Trial, clock: Clock) {
    this.#guard = guard;
    this.#routes = routes;
    this.#trial = trial;
    this.#clock = clock;
    this.#begins = clock.monotonic() + SETTLING_MS;
    this.#before = trial.sends(routes);
  }

  /** Why it is breached; `undefined` while it is not. */
  look(): Reversal | undefined {
    const now = this.#clock.monotonic();
    if (now < this.#begins) return undefined;
    return this.#missedLevel(now) ?? this.#failures();
  }

  #missedLevel(now: number): Reversal | undefined {
    const { level, levelForMs = 0 } = this.#guard;
    if (level === undefined) return undefined;
    if (this.#trial.reaches(level)) {
      this.#below = undefined;
      return undefined;
    }
    this.#below ??= now;
    if (now - this.#below < levelForMs) return undefined;
    return { why: "level", detail: `below ${level} for ${Math.round((now - this.#below) / 1_000)} s` };
  }

  #failures(): Reversal | undefined {
    const { failureRatio, minSends = 1 } = this.#guard;
    if (failureRatio === undefined) return undefined;
    const now = this.#trial.sends(this.#routes);
    const [sends, failed] = [now.sends - this.#before.sends, now.failed - this.#before.failed];
    if (sends < minSends || failed <= failureRatio * sends) return undefined;
    return { why: "failure_ratio", detail: `${failed} of ${sends} sends failed` };
  }
}
