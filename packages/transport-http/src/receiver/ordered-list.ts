interface Entry<T> {
  readonly value: T;
  previous: Entry<T> | undefined;
  next: Entry<T> | undefined;
}

/** Where a value stands in an {@link OrderedList}. */
export type Place<T> = Entry<T>;

/**
 * Values in the order in which they came, each of which can leave at any time, in constant time.
 *
 * A `Set` would do the same, but one that thousands of values a second pass through keeps them alive: each time its
 * table is rebuilt the old one points to the new, so all that passed through is promoted and waits for a full
 * collection. That nearly doubled the cost of a request.
 */
export class OrderedList<T> {
  #first: Entry<T> | undefined;
  #last: Entry<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get first(): T | undefined {
    return this.#first?.value;
  }

  append(value: T): Place<T> {
    const entry: Entry<T> = { value, previous: this.#last, next: undefined };
    if (this.#last === undefined) this.#first = entry;
    else this.#last.next = entry;
    this.#last = entry;
    this.#size++;
    return entry;
  }

  /** Removes what stands at `place`, which must be in this list. */
  remove(place: Place<T>): void {
    const { previous, next } = place;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    [place.previous, place.next] = [undefined, undefined];
    this.#size--;
  }
}
