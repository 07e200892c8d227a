import type { Clock } from "@bridge/ports";
import { CallLimit } from "@bridge/ports/internal";

/** Where the results are: from index `first` on, in the order of the added items, among the results of the whole call. */
export interface TurnShare<Result> {
  readonly results: Promise<readonly Result[]>;
  readonly first: number;
}

interface Turn<Item, Result> extends PromiseWithResolvers<readonly Result[]> {
  readonly items: Item[];
  bytes: number;
}

/** Limits for one call: the store might take longer for more than anybody waits. */
const MOST = { items: 1_000, bytes: 8 * 1024 * 1024 } as const;

/**
 * Gathers what is asked for in one turn of the event loop into one call, because a store's call costs more than a
 * record in it. Splits it into several calls if it is very much, or more than the store recently managed in time. All
 * callers share one promise, because a promise each would cost as much as their part of the call.
 */
export class TurnBatch<Item, Result> {
  readonly #clock: Pick<Clock, "turn">;
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #bytesOf: (item: Item) => number;
  readonly #limit = new CallLimit(MOST);
  #turn: Turn<Item, Result> | undefined;

  /** `run` resolves to one result per item, in order. If it rejects, so does every caller's promise. */
  constructor(
    clock: Pick<Clock, "turn">,
    run: (items: readonly Item[]) => Promise<readonly Result[]>,
    bytesOf: (item: Item) => number = () => 0,
  ) {
    this.#clock = clock;
    this.#run = run;
    this.#bytesOf = bytesOf;
  }

  /** Items added together stay together, however many they are. */
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
