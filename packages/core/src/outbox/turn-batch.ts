import type { Clock } from "@bridge/ports";
import { CallLimit } from "@bridge/ports/internal";

/** Where the results of what was added will be: from `first` on, in its order, among those of the whole turn. */
export interface TurnShare<Result> {
  readonly results: Promise<readonly Result[]>;
  readonly first: number;
}

interface Turn<Item, Result> extends PromiseWithResolvers<readonly Result[]> {
  readonly items: Item[];
  bytes: number;
}

/** A call of more may take a store longer than anybody waits for it. */
const MOST = { items: 1_000, bytes: 8 * 1024 * 1024 } as const;

/**
 * Does in one call what is asked for in one turn of the event loop: a store's call costs more than a record in it. It takes
 * several calls for very much, or for more than the store was in time with lately. All of a call wait for one promise,
 * because one for each would cost as much as its part of it.
 */
export class TurnBatch<Item, Result> {
  readonly #clock: Pick<Clock, "turn">;
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #bytesOf: (item: Item) => number;
  readonly #limit = new CallLimit(MOST);
  #turn: Turn<Item, Result> | undefined;

  /** `run` resolves to one result for each item, in their order; what it rejects with, everybody is told. */
  constructor(
    clock: Pick<Clock, "turn">,
    run: (items: readonly Item[]) => Promise<readonly Result[]>,
    bytesOf: (item: Item) => number = () => 0,
  ) {
    this.#clock = clock;
    this.#run = run;
    this.#bytesOf = bytesOf;
  }

  /** What is added together stays together, however much it is. */
  add(items: readonly Item[]): TurnShare<Result> {
    let bytes = 0;
    for (const item of items) bytes += this.#bytesOf(item);
    const turn = this.#turnFor(items.length, bytes);
    const first = turn.items.length;
    for (const item of items) turn.items.push(item);
    turn.bytes += bytes;
    return { results: turn.promise, first };
  }

  #turnFor(items: number, bytes: number): Turn<Item, Result> {
    const open = this.#turn;
    if (open !== undefined && this.#limit.holds({ items: open.items.length + items, bytes: open.bytes + bytes })) {
      return open;
    }
    const turn: Turn<Item, Result> = { ...Promise.withResolvers<readonly Result[]>(), items: [], bytes: 0 };
    this.#turn = turn;
    this.#clock.turn(() => void this.#flush(turn));
    return turn;
  }

  async #flush(turn: Turn<Item, Result>): Promise<void> {
    if (this.#turn === turn) this.#turn = undefined;
    const size = { items: turn.items.length, bytes: turn.bytes };
    try {
      const results = await this.#run(turn.items);
      if (results.length < turn.items.length) throw new Error("the store gave fewer results than it was asked for");
      this.#limit.ended(size);
      turn.resolve(results);
    } catch (error) {
      this.#limit.ended(size, error);
      turn.reject(error);
    }
  }
}
