import type { Clock } from "./seams.ts";

/** How long one slice of divided work may hold the event loop, unless it is to be less. */
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

/** Turns that are shared by all who live by the same clock. */
export function sharedTurns(): (clock: Pick<Clock, "turn">) => Turns {
  const shared = new WeakMap<object, Turns>();
  return (clock) => {
    const known = shared.get(clock);
    if (known !== undefined) return known;
    const turns = new Turns((run) => clock.turn(run));
    shared.set(clock, turns);
    return turns;
  };
}

/** Those of answers, whoever asks. */
export const answerTurns = sharedTurns();

/** Work that stands still after each step, for as long as whoever takes the steps likes. */
export type Steps<Result> = Generator<void, Result, void>;

/** Takes all steps in this turn. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** As `Array.from(items, map)`, an item a step. */
export function* mapped<Item, Result>(
  items: Iterable<Item>,
  map: (item: Item, index: number) => Result,
): Steps<Result[]> {
  const results: Result[] = [];
  for (const item of items) {
    yield;
    results.push(map(item, results.length));
  }
  return results;
}

/** Work that would hold the event loop for long: it looks often whether its slice is over, and waits for the next one. */
export class Slices {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #turns: Turns;
  readonly #sliceMs: number;
  #began: number;

  /** Begins the first slice in this turn. */
  constructor(clock: Pick<Clock, "monotonic" | "turn">, turns: Turns = answerTurns(clock), sliceMs: number = SLICE_MS) {
    this.#clock = clock;
    this.#turns = turns;
    this.#sliceMs = sliceMs;
    this.#began = clock.monotonic();
  }

  /** Whether it is time for {@link next}. */
  get over(): boolean {
    return this.#clock.monotonic() - this.#began >= this.#sliceMs;
  }

  /** Resolves when the next slice begins. What was read before may have changed by then. */
  async next(): Promise<void> {
    await this.#turns.next();
    this.#began = this.#clock.monotonic();
  }

  /**
   * Takes steps, as many in each slice as it has time for.
   * @throws the signal's reason when it has aborted before they are taken
   */
  async run<Result>(steps: Steps<Result>, signal?: AbortSignal): Promise<Result> {
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (!this.over) continue;
      await this.next();
      if (signal?.aborted !== true) continue;
      // So that what it holds is given back.
      steps.return(undefined as never);
      throw signal.reason;
    }
  }

  /**
   * Does `work` with each of them. What that sets off runs in the same turn, and so before it looks whether the slice is over.
   * @throws the signal's reason when it has aborted before all is done
   */
  async each<Item>(items: Iterable<Item>, work: (item: Item) => void, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    for (const item of items) {
      work(item);
      await Promise.resolve();
      if (this.over) await this.next();
      signal?.throwIfAborted();
    }
  }

  /** As `Array.from(items, map)`. */
  map<Item, Result>(items: Iterable<Item>, map: (item: Item) => Result): Promise<Result[]> {
    return this.run(mapped(items, map));
  }
}
