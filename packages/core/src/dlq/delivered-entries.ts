import type { DeadLetter } from "@bridge/ports";

/** The oldest beyond so many are forgotten: their redrive sends them again. */
const MAX_ENTRIES = 10_000;
/** A store that deletes nothing is told of so often, and not for each entry. */
const TOLD_MS = 10_000;

/** Dead letters that redrives of this process have delivered, and that their store has not deleted. */
export class DeliveredEntries {
  /** By id, when they failed: the same message may fail again, and be another entry under the same id. */
  readonly #failedAt = new Map<string, number>();
  /** Monotonic milliseconds. */
  #toldAt = -Infinity;
  #untold = 0;

  get size(): number {
    return this.#failedAt.size;
  }

  get ids(): readonly string[] {
    return [...this.#failedAt.keys()];
  }

  /** How many there are to tell of since it was told last; 0: it is told soon enough with those that come. */
  toTell(now: number): number {
    this.#untold++;
    if (now - this.#toldAt < TOLD_MS) return 0;
    const untold = this.#untold;
    this.#toldAt = now;
    this.#untold = 0;
    return untold;
  }

  has({ id, failedAt }: DeadLetter): boolean {
    return this.#failedAt.get(id) === failedAt;
  }

  /** Whether it has one of this id, of which nothing is there to look at. */
  hasId(id: string): boolean {
    return this.#failedAt.has(id);
  }

  add({ id, failedAt }: DeadLetter): void {
    this.#failedAt.delete(id);
    this.#failedAt.set(id, failedAt);
    for (const oldest of this.#failedAt.keys()) {
      if (this.#failedAt.size <= MAX_ENTRIES) return;
      this.#failedAt.delete(oldest);
    }
  }

  delete(id: string): void {
    this.#failedAt.delete(id);
  }
}
