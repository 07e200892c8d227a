import { type OutboxRecord } from "@bridge/ports";
import { payloadBytes } from "@bridge/ports/internal";

/** How much of what was persisted here is kept, so that a claim of it need not read it. */
const MAX_RECORDS = 10_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Records that this handle has persisted, by their numbers, until they are lent; the oldest go when they are many. */
export class Contents {
  readonly #records = new Map<number, OutboxRecord>();
  /** Lent without being here: the answer that one was persisted may come after that of the claim which has lent it. */
  readonly #passed = new Set<number>();
  #bytes = 0;

  get size(): number {
    return this.#records.size;
  }

  add(number: number, record: OutboxRecord): void {
    if (this.#passed.delete(number)) return;
    this.#records.set(number, record);
    this.#bytes += payloadBytes(record);
    for (const oldest of this.#records.keys()) {
      if (this.#records.size <= MAX_RECORDS && this.#bytes <= MAX_BYTES) break;
      this.take(oldest);
    }
  }

  /** Gives a record out, once: whoever has it may change its bytes. */
  take(number: number): OutboxRecord | undefined {
    const record = this.#records.get(number);
    if (record === undefined) {
      this.#pass(number);
      return undefined;
    }
    this.#records.delete(number);
    this.#bytes -= payloadBytes(record);
    return record;
  }

  #pass(number: number): void {
    this.#passed.add(number);
    if (this.#passed.size <= MAX_RECORDS) return;
    for (const oldest of this.#passed) {
      this.#passed.delete(oldest);
      break;
    }
  }
}
