interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Does in one call what is asked for in one turn of the event loop: a store's call costs more than a record in it. */
export class TurnBatch<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  #waiting: Waiting<Item, Result>[] = [];

  /** `run` resolves to one result for each item, in their order; what it rejects with, every item is told. */
  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#run = run;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ item, resolve, reject }) === 1) setImmediate(() => void this.#flush());
    });
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    try {
      const results = await this.#run(waiting.map(({ item }) => item));
      let next = 0;
      for (const { resolve, reject } of waiting) {
        const result = results[next++];
        if (result === undefined) reject(new Error("the store gave fewer results than it was asked for"));
        else resolve(result);
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
