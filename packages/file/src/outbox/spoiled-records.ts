import type { FileDatabase } from "../database/file-database.ts";
import type { Clock, Logger, StoreHealth } from "@bridge/ports";
import type { Entry } from "./entry.ts";
import type { Lane } from "./lane.ts";
import type { OutboxStatements } from "./outbox-statements.ts";

/**
 * Unfinished records that were found not to be as they were written. They stay in the file, are not lent, and do not hold
 * up others: the next of their key is sent, as behind one that was given up.
 */
export class SpoiledRecords {
  readonly #found = new Map<number, { readonly id: string; readonly lane: Lane }>();
  readonly #logger: Logger;
  readonly #clock: Clock;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  health(): Pick<StoreHealth, "spoiled"> {
    return this.#found.size === 0 ? {} : { spoiled: this.#found.size };
  }

  /** After the file has been opened: what is in it is looked at anew. */
  reset(): void {
    this.#found.clear();
  }

  /** Takes a record out of its lane's order. */
  found({ number, id }: Pick<Entry, "number" | "id">, lane: Lane): void {
    if (this.#found.has(number)) return;
    this.#found.set(number, { id, lane });
    const { routeId, bindingId } = lane;
    this.#logger.error("a record of the outbox is not as it was written: it is kept, and not sent", {
      record_id: id,
      route_id: routeId,
      binding_id: bindingId,
    });
  }

  /** An operator knows of them: they are ended as dead, and what there is of them is put aside in the file. Returns their ids. */
  acknowledge(file: FileDatabase<OutboxStatements>): readonly string[] {
    const known = [...this.#found];
    const write = file.write({
      frees: true,
      bytes: 0,
      run: (statements) => known.map(([number]) => statements.putAside(number, this.#clock.now())),
      done: (ended) => {
        for (const [index, [number, { lane }]] of known.entries()) {
          lane.depth -= ended[index] ?? 0;
          this.#found.delete(number);
        }
      },
    });
    // What could not be written is still counted, and may be acknowledged again.
    write.catch((error: unknown) => {
      this.#logger.warn("spoiled records were not put aside", { error: String(error) });
    });
    return known.map(([, { id }]) => id);
  }
}
