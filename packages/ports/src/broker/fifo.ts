/** Below this length, shifting an array is as quick as anything. */
const COMPACT_AT = 64;

/** A queue whose ends cost the same whatever its length. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get size(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head >= COMPACT_AT && this.#head * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** Takes out everything that `condition` holds for. */
  remove(condition: (item: T) => boolean): T[] {
    const items = this.#items.slice(this.#head) as T[];
    this.#items = items.filter((item) => !condition(item));
    this.#head = 0;
    return items.filter((item) => condition(item));
  }
}
