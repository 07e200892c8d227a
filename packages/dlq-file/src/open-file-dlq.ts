import type { DatabaseSync } from "node:sqlite";
import { FileDatabase } from "@bridge/file/internal";
import { type Clock, type DlqAdmin, type DlqStore, type Logger } from "@bridge/ports";
import { demandPage, orAborted, SpoiledEntries } from "@bridge/ports/internal";
import { countEntries } from "./count-entries.ts";
import { entryOf, headOf, newRow } from "./dead-letter-row.ts";
import { deleteIds, deleteOldest, withTrash } from "./deleting.ts";
import { DLQ_FILE } from "./dlq-file-kind.ts";
import { DlqTables } from "./dlq-tables.ts";
import { fileJobs } from "./file-jobs.ts";
import { fileMarks } from "./file-marks.ts";
import { fileTrash } from "./file-trash.ts";
import { readFacets } from "./read-facets.ts";
import { readPage } from "./read-page.ts";
import { sweepEntries } from "./sweep-entries.ts";

export interface FileDlqOptions {
  /** The file; a relative one starts at the working directory. Its folder is made if it is not there. */
  readonly path: string;
  /** From so many bytes on, those of the trash too, writes fail as `UNAVAILABLE`, until entries are deleted. Default: as much as there is. */
  readonly maxBytes?: number | undefined;
  /** Entries that failed so many milliseconds ago are deleted. Default: never. */
  readonly retentionMs?: number | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** It has all that a store may have. */
export type FileDlq = DlqStore &
  Required<Pick<DlqStore, "page" | "facets" | "marks" | "jobs">> & { readonly admin: Required<DlqAdmin> };

/**
 * A DLQ store in a file of this process. What is put is durable when the call resolves; writes that overlap share one
 * sync. A damaged file is set aside and a new one begun, which is logged as an error.
 *
 * Throws a {@link BridgeError} when the file cannot be opened: it is another process's, another program's, of a newer
 * release, or on a disk that does not let it. While the disk is full or fails, calls reject as `UNAVAILABLE`; they
 * work again when it does.
 */
export function openFileDlq(options: FileDlqOptions): FileDlq {
  const { path, maxBytes, retentionMs, clock, logger } = options;
  const closing = new AbortController();
  const file = open();
  const spoiled = new SpoiledEntries(logger);
  const sweeping = sweepEntries(file, retentionMs, { clock, logger });
  const trash = fileTrash(file, retentionMs, clock);

  function open(): FileDatabase<DlqTables> {
    try {
      const kept = { kind: DLQ_FILE, onDamage: "quarantine", prepare, onMended: recount } as const;
      return new FileDatabase({ path, maxBytes, clock, logger, ...kept });
    } catch (error) {
      closing.abort();
      throw error;
    }
  }

  function prepare(db: DatabaseSync): DlqTables {
    const tables = new DlqTables(db);
    // When it is open.
    void Promise.resolve().then(() => beginToCount(tables));
    return tables;
  }

  function recount(tables: DlqTables): void {
    tables.recount();
    beginToCount(tables);
  }

  function beginToCount(tables: DlqTables): void {
    if (!closing.signal.aborted) void countEntries(file, tables, clock, closing.signal);
  }

  return {
    async put(entry, signal) {
      signal.throwIfAborted();
      const write = file.write({
        frees: false,
        bytes: entry.envelope.payload.length,
        run({ entries, counts }) {
          const row = newRow(entry);
          return entries.insert(row) ? { counts, row: row.counted } : undefined;
        },
        done: (put) => put?.counts.change({ is: put.row }),
      });
      await orAborted(write, signal);
    },
    async get(id, signal) {
      signal.throwIfAborted();
      const row = await file.reading(() => file.read(({ entries }) => entries.get(id)), signal);
      return row === undefined ? undefined : spoiled.read(id, row, () => entryOf(id, row));
    },
    async list(filter, page, signal) {
      signal.throwIfAborted();
      demandPage(page);
      return file.reading(() => file.read(({ entries }) => entries.list(filter, page)).map(headOf), signal);
    },
    async count(cap, signal) {
      signal.throwIfAborted();
      return file.read(({ entries }) => entries.count(cap));
    },
    page: (query, page, signal) => file.reading(() => readPage(file, query, page, clock, signal), signal),
    facets: (request, signal) => file.reading(() => readFacets(file, request, clock, signal), signal),
    marks: fileMarks(file),
    jobs: fileJobs(file),
    admin: {
      async delete(ids, signal, { delivered = false } = {}) {
        const gone = await deleteIds(file, ids, signal, delivered ? withTrash : undefined);
        spoiled.deleted(gone);
        return gone;
      },
      async deleteWhere(filter, limit, signal) {
        const count = await deleteOldest(file, filter, limit ?? Infinity, signal);
        spoiled.deleted();
        return count;
      },
      trash: {
        ...trash,
        async move(ids, batch, until, signal) {
          const gone = await trash.move(ids, batch, until, signal);
          spoiled.deleted(gone);
          return gone;
        },
      },
    },
    health: () => ({ ...file.health(), ...spoiled.health() }),
    acknowledgeDamage: () => file.acknowledgeDamage(),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await sweeping[Symbol.asyncDispose]();
      await file[Symbol.asyncDispose]();
    },
  };
}
