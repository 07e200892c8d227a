import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { FileFault } from "./file-fault.ts";
import type { FileKind } from "./file-kind.ts";
import { migrate } from "./migrate.ts";

/** Above this the log is brought into the file; it keeps that size, so that writing to it need not allocate. */
const LOG_BYTES = 8 * 1024 * 1024;
const CACHE_KIB = 16 * 1024;
/** A file up to this size is checked whole when it is opened (about 7 ms a megabyte), a larger one as it is used. */
const CHECKED_BYTES = 4 * 1024 * 1024;

/** An open file, its log under a handle of its own so that it can be synced off the main thread. */
export interface Connection {
  readonly db: DatabaseSync;
  /** Of the write-ahead log. */
  readonly log: number;
  close(): void;
}

/**
 * Opens a file that is there and ours, whose lock is held. Everything that its log holds is in the file itself
 * afterwards: what the system could not write before is written anew, so that nothing rests on pages of the log that
 * only the cache knows.
 *
 * Throws what {@link FileFault.of} knows; `damaged` when the file cannot be used.
 */
export function openConnection(path: string, kind: FileKind): Connection {
  const db = new DatabaseSync(path);
  try {
    migrate(db, kind);
    // NORMAL leaves the sync of each commit to us, and still syncs log and file around each checkpoint.
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
    db.exec(`PRAGMA journal_size_limit = ${LOG_BYTES}; PRAGMA cache_size = -${kind.cacheKib ?? CACHE_KIB}`);
    const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
    if (busy !== 0) throw new FileFault(path, "busy");
    if (statSync(path).size <= CHECKED_BYTES) check(db, path);
    const log = openSync(`${path}-wal`, constants.O_RDWR);
    const close = (): void => {
      try {
        db.close();
      } finally {
        closeSync(log);
      }
    };
    return { db, log, close };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Whether the log has outgrown its size; after a checkpoint the next commit cuts it back. */
export function isLogFull({ log }: Connection): boolean {
  return fstatSync(log).size > LOG_BYTES;
}

function check(db: DatabaseSync, path: string): void {
  const { quick_check: verdict } = db.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
  if (verdict !== "ok") throw new FileFault(path, "damaged", { cause: new Error(verdict) });
}
