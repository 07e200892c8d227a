import type { SourceItem } from "../../src/index.ts";

/** An iterable that gives what it is told to, and remembers how it was asked. */
export class HandIterable implements AsyncIterableIterator<SourceItem> {
  readonly #asked: PromiseWithResolvers<IteratorResult<SourceItem>>[] = [];
  asks = 0;
  returns = 0;
  onReturn: () => Promise<IteratorResult<SourceItem>> = async () => ({ done: true, value: undefined });

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<SourceItem>> {
    this.asks++;
    const asked = Promise.withResolvers<IteratorResult<SourceItem>>();
    this.#asked.push(asked);
    return asked.promise;
  }

  return(): Promise<IteratorResult<SourceItem>> {
    this.returns++;
    return this.onReturn();
  }

  /** Whether somebody waits for what it gives. */
  get asked(): boolean {
    return this.#asked.length > 0;
  }

  give(item: SourceItem): void {
    this.#asked.shift()?.resolve({ done: false, value: item });
  }

  fail(error: unknown): void {
    this.#asked.shift()?.reject(error);
  }
}
