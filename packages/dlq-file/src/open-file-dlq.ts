import { FileDatabase } from "@bridge/file/internal";
import { type Clock, type DlqAdmin, type DlqStore, type Logger } from "@bridge/ports";
import { orAborted, SpoiledEntries } from "@bridge/ports/internal";
import { entryOf, headOf, rowValues } from "./dead-letter-row.ts";
import { deleteIds, deleteOldest } from "./deleting.ts";
import { DLQ_FILE } from "./dlq-file-kind.ts";
import { DlqStatements } from "./dlq-statements.ts";
import { expireEntries } from "./expire-entries.ts";

export interface FileDlqOptions {
  /** The file; a relative one starts at the working directory. Its folder is made if it is not there. */
  readonly path: string;
  /** From so many bytes on writes fail as `UNAVAILABLE`, until entries are deleted. Default: as much as there is. */
  readonly maxBytes?: number | undefined;
  /** Entries that failed so many milliseconds ago are deleted. Default: never. */
  readonly retentionMs?: number | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * A DLQ store in a file of this process. What is put is durable when the call resolves; writes that overlap share one
 * sync. A damaged file is set aside and a new one begun, which is logged as an error.
 *
 * Throws a {@link BridgeError} when the file cannot be opened: it is another process's, another program's, of a newer
 * release, or on a disk that does not let it. While the disk is full or fails, calls reject as `UNAVAILABLE`; they
 * work again when it does.
 */
export function openFileDlq(options: FileDlqOptions): DlqStore & { readonly admin: DlqAdmin } {
  const { path, maxBytes, retentionMs, clock, logger } = options;
  const file = new FileDatabase({
    path,
    kind: DLQ_FILE,
    onDamage: "quarantine",
    maxBytes,
    clock,
    logger,
    prepare: (db) => new DlqStatements(db),
  });
  const spoiled = new SpoiledEntries(logger);
  const expiry = retentionMs === undefined ? undefined : expireEntries(file, retentionMs, { clock, logger });

  return {
    async put(entry, signal) {
      signal.throwIfAborted();
      const write = file.write({
        frees: false,
        bytes: entry.envelope.payload.length,
        run: (statements) => statements.insert(rowValues(entry)),
      });
      await orAborted(write, signal);
    },
    async get(id, signal) {
      signal.throwIfAborted();
      const row = file.read((statements) => statements.get(id));
      return row === undefined ? undefined : spoiled.read(id, row, () => entryOf(id, row));
    },
    async list(filter, page, signal) {
      signal.throwIfAborted();
      return file.read((statements) => statements.list(filter, page)).map(headOf);
    },
    async count(cap, signal) {
      signal.throwIfAborted();
      return file.read((statements) => statements.count(cap));
    },
    admin: {
      async delete(ids, signal) {
        const gone = await deleteIds(file, ids, clock, signal);
        spoiled.deleted(gone);
        return gone;
      },
      async deleteWhere(filter, limit, signal) {
        const count = await deleteOldest(file, filter, limit ?? Infinity, clock, signal);
        spoiled.deleted();
        return count;
      },
    },
    health: () => ({ ...file.health(), ...spoiled.health() }),
    acknowledgeDamage: () => file.acknowledgeDamage(),
    async [Symbol.asyncDispose]() {
      await expiry?.[Symbol.asyncDispose]();
      await file[Symbol.asyncDispose]();
    },
  };
}
