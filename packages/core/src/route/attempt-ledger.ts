/** What the bridge remembers of a leg that failed, and whose message may be handed out again. */
export interface AttemptRecord {
  readonly attempts: number;
  /** Monotonic milliseconds of the first failure's delivery. */
  readonly since: number;
}

/**
 * Counts attempts across redeliveries for sources that do not count them (spec 1.3). Keyed on the message's stable
 * identity. Bounded: evicts the least recently used. Kept in memory, so an instance's counts end with it.
 */
export class AttemptLedger<Kept = AttemptRecord> {
  readonly #records = new Map<string, Kept>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#records.size;
  }

  get(key: string): Kept | undefined {
    return this.#records.get(key);
  }

  record(key: string, record: Kept): void {
    this.#records.delete(key);
    this.#records.set(key, record);
    if (this.#records.size > this.#capacity) {
      const oldest = this.#records.keys().next();
      if (oldest.done !== true) this.#records.delete(oldest.value);
    }
  }

  /** Forgets a message: called at every terminal settlement. */
  evict(key: string): void {
    this.#records.delete(key);
  }
}
