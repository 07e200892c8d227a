import { legibleIn, type PackedDeadLetter } from "./packed-dead-letter.ts";
import type { Logger } from "./seams.ts";
import type { StoreHealth } from "./store-health.ts";

/** No more are told apart: each is in the log. */
const MAX_IDS = 10_000;

/** Dead letters that were found not to be as they were written, since the store was opened. */
export class SpoiledEntries {
  readonly #ids = new Set<string>();
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  health(): Pick<StoreHealth, "spoiled"> {
    return this.#ids.size === 0 ? {} : { spoiled: this.#ids.size };
  }

  /** Reads an entry, as it is packed; what throws then is that the entry is spoiled. */
  read<Entry>(id: string, packed: PackedDeadLetter, read: () => Entry): Entry {
    try {
      const entry = read();
      this.#ids.delete(id);
      return entry;
    } catch (error) {
      if (!this.#ids.has(id) && this.#ids.size < MAX_IDS) {
        this.#ids.add(id);
        this.#logger.error("a dead letter is not as it was written: it is kept, and never delivered", {
          entry_id: id,
          ...legibleIn(packed),
        });
      }
      throw error;
    }
  }

  /** These are deleted; without ids any may be, and those that are still there are found again. */
  deleted(ids: Iterable<string> = this.#ids): void {
    for (const id of ids) this.#ids.delete(id);
  }
}
