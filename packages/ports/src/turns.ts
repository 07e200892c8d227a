import type { Clock } from "./seams.ts";
import { systemClock } from "./system.ts";

/** How long one slice of divided work may hold the event loop. */
const SLICE_MS = 2;

/** Runs something in a turn of the event loop to come. */
type NextTurn = (run: () => void) => void;

/**
 * The turns of the event loop, for work that is done in slices: one slice a turn, and who came first goes first. So twenty
 * answers at once do not add up to one long turn.
 */
export class Turns {
  readonly #nextTurn: NextTurn;
  #waiting: (() => void)[] = [];

  constructor(nextTurn: NextTurn) {
    this.#nextTurn = nextTurn;
  }

  /** Resolves in a turn that no other slice has. It always comes; how soon depends on who else waits. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#waiting.length === 1) this.#ask();
    });
  }

  #ask(): void {
    this.#nextTurn(() => {
      const go = this.#waiting.shift();
      if (this.#waiting.length > 0) this.#ask();
      go?.();
    });
  }
}

/** Those of this process. */
export const processTurns = new Turns((run) => setImmediate(run));

/** Work that would hold the event loop for long: it looks often whether its slice is over, and waits for the next one. */
export class Slices {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #turns: Turns;
  #began: number;

  /** Begins the first slice in this turn. */
  constructor(clock: Pick<Clock, "monotonic"> = systemClock, turns: Turns = processTurns) {
    this.#clock = clock;
    this.#turns = turns;
    this.#began = clock.monotonic();
  }

  /** Whether it is time for {@link next}. */
  get over(): boolean {
    return this.#clock.monotonic() - this.#began >= SLICE_MS;
  }

  /** Resolves when the next slice begins. What was read before may have changed by then. */
  async next(): Promise<void> {
    await this.#turns.next();
    this.#began = this.#clock.monotonic();
  }

  /** As `Array.from(items, map)`. */
  async map<Item, Result>(items: Iterable<Item>, map: (item: Item) => Result): Promise<Result[]> {
    const results: Result[] = [];
    for (const item of items) {
      if (this.over) await this.next();
      results.push(map(item));
    }
    return results;
  }
}
