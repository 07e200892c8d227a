const INITIAL_CAPACITY = 16;

/** A queue with two ends on a ring: pushing and taking cost the same whatever its length. */
export class RingQueue<T> {
  #slots: Array<T | undefined> = Array.from({ length: INITIAL_CAPACITY });
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: T): void {
    if (this.#size === this.#slots.length) this.#grow();
    this.#slots[(this.#head + this.#size++) & (this.#slots.length - 1)] = item;
  }

  unshift(item: T): void {
    if (this.#size === this.#slots.length) this.#grow();
    this.#head = (this.#head - 1) & (this.#slots.length - 1);
    this.#slots[this.#head] = item;
    this.#size++;
  }

  shift(): T | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#slots[this.#head];
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.#size--;
    return item;
  }

  /** From the head to the tail. */
  *[Symbol.iterator](): Generator<T> {
    for (let i = 0; i < this.#size; i++) yield this.#slots[(this.#head + i) & (this.#slots.length - 1)] as T;
  }

  /** The capacity stays a power of two, so that a mask does for the remainder. */
  #grow(): void {
    const items: Array<T | undefined> = [...this];
    items.length *= 2;
    this.#slots = items;
    this.#head = 0;
  }
}
