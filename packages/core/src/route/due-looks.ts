import { type Clock } from "@bridge/ports";
import { sharedTurns, Slices, type Turns } from "@bridge/ports/internal";

/** Separate from the turns of answers, so that a client that asks for many answers does not delay the looks at routes. */
const lookTurns = sharedTurns();

/**
 * Looks at routes, each due by its own timer: at once while few are due in a turn, in slices when many are. After a
 * long turn the looks of thousands of routes are due together.
 */
export class DueLooks {
  readonly #clock: Pick<Clock, "monotonic" | "turn">;
  readonly #turns: Turns;
  readonly #waiting = new Set<() => void>();
  /** Of this turn; set once a look was due in it. */
  #slices: Slices | undefined;

  constructor(clock: Pick<Clock, "monotonic" | "turn">, turns: Turns = lookTurns(clock)) {
    this.#clock = clock;
    this.#turns = turns;
  }

  /** Calls `look` once, in this turn or a later one, however often it is due before then. */
  due(look: () => void): void {
    const slices = (this.#slices ??= this.#begin());
    if (this.#waiting.size === 0 && !slices.over) look();
    else this.#waiting.add(look);
  }

  /** Cancels a look that is still waiting. */
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
