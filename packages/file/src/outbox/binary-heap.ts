/** Gives the smallest first. What has the same rank comes in any order. */
export class BinaryHeap<T> {
  readonly #items: T[] = [];
  readonly #rank: (item: T) => number;

  constructor(rank: (item: T) => number) {
    this.#rank = rank;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    const rank = this.#rank(item);
    let at = items.length;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      const above = items[parent] as T;
      if (this.#rank(above) <= rank) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const top = items[0];
    const last = items.pop();
    if (last !== undefined && items.length > 0) this.#sink(last);
    return top;
  }

  /** Puts `item` where the top was, and then as far down as it belongs. */
  #sink(item: T): void {
    const items = this.#items;
    const rank = this.#rank(item);
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      const right = child + 1;
      if (right < items.length && this.#rank(items[right] as T) < this.#rank(items[child] as T)) child = right;
      const below = items[child] as T;
      if (this.#rank(below) >= rank) break;
      items[at] = below;
      at = child;
    }
    items[at] = item;
  }
}
