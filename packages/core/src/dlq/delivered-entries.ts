import type { DeadLetter } from "@bridge/ports";

/** The oldest beyond so many are forgotten: their redrive sends them again. */
const MAX_ENTRIES = 10_000;

/** Dead letters that redrives of this process have delivered, and that their store has not deleted. */
export class DeliveredEntries {
  /** By id, when they failed: the same message may fail again, and be another entry under the same id. */
  readonly #failedAt = new Map<string, number>();

  has({ id, failedAt }: DeadLetter): boolean {
    return this.#failedAt.get(id) === failedAt;
  }

  add({ id, failedAt }: DeadLetter): void {
    this.#failedAt.delete(id);
    this.#failedAt.set(id, failedAt);
    if (this.#failedAt.size <= MAX_ENTRIES) return;
    const [oldest] = this.#failedAt.keys();
    if (oldest !== undefined) this.#failedAt.delete(oldest);
  }

  delete(id: string): void {
    this.#failedAt.delete(id);
  }
}
