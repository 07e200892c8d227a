/** Where the results of what was added will be: from `first` on, in its order, among those of the whole turn. */
export interface TurnShare<Result> {
  readonly results: Promise<readonly Result[]>;
  readonly first: number;
}

interface Turn<Item, Result> extends PromiseWithResolvers<readonly Result[]> {
  readonly items: Item[];
}

/**
 * Does in one call what is asked for in one turn of the event loop: a store's call costs more than a record in it. All of
 * a turn wait for one promise, because one for each would cost as much as its part of the call.
 */
export class TurnBatch<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  #turn: Turn<Item, Result> | undefined;

  /** `run` resolves to one result for each item, in their order; what it rejects with, everybody is told. */
  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#run = run;
  }

  /** Items of one call stay together. */
  add(items: readonly Item[]): TurnShare<Result> {
    const turn = (this.#turn ??= this.#begin());
    const first = turn.items.length;
    for (const item of items) turn.items.push(item);
    return { results: turn.promise, first };
  }

  #begin(): Turn<Item, Result> {
    setImmediate(() => void this.#flush());
    return { ...Promise.withResolvers<readonly Result[]>(), items: [] };
  }

  async #flush(): Promise<void> {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn === undefined) return;
    try {
      const results = await this.#run(turn.items);
      if (results.length < turn.items.length) throw new Error("the store gave fewer results than it was asked for");
      turn.resolve(results);
    } catch (error) {
      turn.reject(error);
    }
  }
}
