interface Entry<T> {
  readonly due: number;
  readonly order: number;
  readonly item: T;
}

/** Hands out items by their due time, those of one time in the order they came: a binary heap. */
export class DueQueue<T> {
  readonly #heap: Entry<T>[] = [];
  #order = 0;

  get size(): number {
    return this.#heap.length;
  }

  /** When the first item is due; `undefined` when there is none. */
  get nextDue(): number | undefined {
    return this.#heap[0]?.due;
  }

  push(item: T, due: number): void {
    const heap = this.#heap;
    const entry = { due, order: this.#order++, item };
    let hole = heap.push(entry) - 1;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (!before(entry, heap[parent])) break;
      heap[hole] = heap[parent] as Entry<T>;
      hole = parent;
    }
    heap[hole] = entry;
  }

  /** The first item, when it is due at `now`. */
  shiftDue(now: number): T | undefined {
    const heap = this.#heap;
    const first = heap[0];
    if (first === undefined || first.due > now) return undefined;
    const last = heap.pop() as Entry<T>;
    if (heap.length === 0) return first.item;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (before(heap[child + 1], heap[child])) child++;
      if (!before(heap[child], last)) break;
      heap[hole] = heap[child] as Entry<T>;
      hole = child;
    }
    heap[hole] = last;
    return first.item;
  }
}

function before(a: Entry<unknown> | undefined, b: Entry<unknown> | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  return a.due < b.due || (a.due === b.due && a.order < b.order);
}
