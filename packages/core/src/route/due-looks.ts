import { type Clock } from "@bridge/ports";
import { sharedTurns, Slices, type Turns } from "@bridge/ports/internal";

/** Apart from those of answers, so that nobody who asks for many keeps routes from being looked at. */
const lookTurns = sharedTurns();

/**
 * Looks at routes, each due by a timer of its own: at once while there are few of them in a turn, in slices when there are
 * many. After a turn that took long those of thousands of routes are due together.
 */
export class DueLooks {
  readonly #clock: Pick<Clock, "monotonic" | "turn">;
  readonly #turns: Turns;
  readonly #waiting = new Set<() => void>();
  /** Of this turn, once one was due in it. */
  #slices: Slices | undefined;

  constructor(clock: Pick<Clock, "monotonic" | "turn">, turns: Turns = lookTurns(clock)) {
    this.#clock = clock;
    this.#turns = turns;
  }

  /** Calls `look` in this turn, or in one to come; once, however often it is due until then. */
  due(look: () => void): void {
    const slices = (this.#slices ??= this.#begin());
    if (this.#waiting.size === 0 && !slices.over) look();
    else this.#waiting.add(look);
  }

  /** It is not to be called any more. */
  forget(look: () => void): void {
    this.#waiting.delete(look);
  }

  #begin(): Slices {
    const slices = new Slices(this.#clock, this.#turns);
    void this.#serve(slices);
    return slices;
  }

  async #serve(slices: Slices): Promise<void> {
    do {
      await slices.next();
      for (const look of this.#waiting) {
        this.#waiting.delete(look);
        look();
        if (slices.over) break;
      }
    } while (this.#waiting.size > 0);
    this.#slices = undefined;
  }
}
