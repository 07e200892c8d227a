/** It grows when half of its places are taken: keys that follow one another then seldom share one. */
const FIRST_PLACES = 256;
const MAX_PLACES = 65_536;

/**
 * A map whose keys are counted upwards, such as tags and packet identifiers, and whose entries come and go for each
 * message.
 *
 * It keeps an entry at its key's remainder, in arrays that stay: see {@link Bag} for what is wrong with a Map there. Keys
 * of any other order are kept as well, only not as cheaply.
 */
export class SequenceMap<Value extends {}> {
  #keys: number[] = [];
  #values: (Value | undefined)[] = [];
  #mask = -1;
  /** Whose place is taken. */
  readonly #others = new Map<number, Value>();
  #placed = 0;

  get size(): number {
    return this.#placed + this.#others.size;
  }

  get(key: number): Value | undefined {
    const place = key & this.#mask;
    if (this.#keys[place] === key && this.#values[place] !== undefined) return this.#values[place];
    return this.#others.size === 0 ? undefined : this.#others.get(key);
  }

  has(key: number): boolean {
    return this.get(key) !== undefined;
  }

  /** @param key a whole number from 0 */
  set(key: number, value: Value): void {
    if (this.#placed * 2 > this.#mask && this.#mask < MAX_PLACES - 1) this.#grow();
    const place = key & this.#mask;
    const isFree = this.#values[place] === undefined;
    if (this.#others.has(key) || (!isFree && this.#keys[place] !== key)) {
      this.#others.set(key, value);
      return;
    }
    if (isFree) this.#placed++;
    this.#keys[place] = key;
    this.#values[place] = value;
  }

  /** Returns what was there. */
  take(key: number): Value | undefined {
    const place = key & this.#mask;
    const value = this.#values[place];
    if (this.#keys[place] === key && value !== undefined) {
      this.#values[place] = undefined;
      this.#placed--;
      return value;
    }
    if (this.#others.size === 0) return undefined;
    const other = this.#others.get(key);
    this.#others.delete(key);
    return other;
  }

  clear(): void {
    this.#values.fill(undefined);
    this.#placed = 0;
    this.#others.clear();
  }

  /** Every entry that is in now, in the order of the keys. */
  entries(): [key: number, value: Value][] {
    const entries = [...this.#others];
    for (const [place, value] of this.#values.entries()) {
      if (value !== undefined) entries.push([this.#keys[place] as number, value]);
    }
    return entries.toSorted(([one], [other]) => one - other);
  }

  #grow(): void {
    const entries = this.entries();
    const places = Math.max(FIRST_PLACES, 2 * (this.#mask + 1));
    this.#mask = places - 1;
    this.#keys = Array.from({ length: places }, () => 0);
    this.#values = Array.from<undefined>({ length: places });
    this.#placed = 0;
    this.#others.clear();
    for (const [key, value] of entries) this.set(key, value);
  }
}
