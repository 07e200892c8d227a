/** What the bridge remembers of a message that failed and may be handed out again. */
export interface AttemptRecord {
  readonly attempts: number;
  /** Monotonic milliseconds of the first failure's delivery. */
  readonly since: number;
}

/**
 * Counts attempts across redeliveries for sources that do not count them (spec 1.3). Keyed on the message's stable
 * identity. Bounded: evicts the least recently used. Kept in memory, so an instance's counts end with it.
 */
export class AttemptLedger {
  readonly #records = new Map<string, AttemptRecord>();
  readonly #capacity: number;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#records.size;
  }

  get(key: string): AttemptRecord | undefined {
    return this.#records.get(key);
  }

  record(key: string, record: AttemptRecord): void {
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
