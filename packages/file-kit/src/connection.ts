import { closeSync, constants, existsSync, fstatSync, openSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { FileContents } from "./file-contents.ts";
import { FileFault } from "./file-fault.ts";
import type { FileKind } from "./file-kind.ts";
import { FilePlace } from "./file-place.ts";
import { syncFolder } from "./folder.ts";
import { LogIndex } from "./log-index.ts";
import { LogMark } from "./log-mark.ts";
import { migrate } from "./migrate.ts";
import { hasSchemaOf } from "./schema.ts";

/** Above this the log is brought into the file; it keeps that size, so that writing to it need not allocate. */
const LOG_BYTES = 8 * 1024 * 1024;
const CACHE_KIB = 16 * 1024;
/** A file up to this size is checked whole when it is opened (about 6 ms a megabyte), a larger one as it is used. */
const CHECKED_BYTES = 4 * 1024 * 1024;

/** An open file, its log under a handle of its own so that it can be synced off the main thread. */
export interface Connection {
  readonly db: DatabaseSync;
  /** Of the write-ahead log. */
  readonly log: number;
  readonly logIndex: LogIndex;
  readonly mark: LogMark;
  readonly place: FilePlace;
  readonly contents: FileContents;
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
  const mark = new LogMark(path);
  const db = new DatabaseSync(path);
  const handles: number[] = [];
  let place: FilePlace | undefined;
  let contents: FileContents | undefined;
  const close = (): void => {
    // The mark of a log that somebody has harmed stays, so that what SQLite makes of that now is not taken for sound.
    const isHarmed = contents?.isHarmed() ?? false;
    try {
      if (!isHarmed) mark.clear();
    } catch {
      // Only a power loss could bring it back.
    }
    try {
      db.close();
      if (!isHarmed && place?.has("") === true && !existsSync(`${path}-wal`)) noteClosed(path, mark);
    } finally {
      // After SQLite: closing any handle of a file gives up the locks that the process has on it.
      for (const handle of handles) closeSync(handle);
      mark.close();
    }
  };
  try {
    // From here on the log may begin anew at any time.
    mark.clear();
    migrate(db, kind);
    // NORMAL leaves the sync of each commit to us, and still syncs log and file around each checkpoint.
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
    db.exec(`PRAGMA journal_size_limit = ${LOG_BYTES}; PRAGMA cache_size = -${kind.cacheKib ?? CACHE_KIB}`);
    // SQLite makes its log when it first reads.
    db.exec("PRAGMA schema_version");
    handles.push(...["", "-wal", "-shm"].map((part) => openSync(path + part, constants.O_RDWR)));
    const [file, log, index] = handles as [number, number, number];
    // An empty log is left alone: it begins with random salts then, and with the same ones as each before it otherwise.
    if (fstatSync(log).size > 0) emptyLog(db, path);
    if (!hasSchemaOf(db, kind)) throw damaged(path, "its tables are not those it was made with");
    if (statSync(path).size <= CHECKED_BYTES) check(db, path);
    const logIndex = new LogIndex(index);
    place = new FilePlace(path);
    contents = new FileContents(file, log, logIndex);
    return { db, log, logIndex, mark, place, contents, close };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * Brings the log into the file, wherever both are now: whoever opens the file next may not find the log. What is not done
 * now stays in the log.
 */
export function carryLogOver({ db }: Connection): void {
  db.exec("PRAGMA wal_checkpoint(PASSIVE)");
}

/** Whether the log has outgrown its size; after a checkpoint the next commit cuts it back. */
export function isLogFull({ log }: Connection): boolean {
  return fstatSync(log).size > LOG_BYTES;
}

/** All of the log is in the file, and SQLite has deleted it. */
function noteClosed(path: string, mark: LogMark): void {
  try {
    // Or a power loss could bring the log back.
    syncFolder(path);
    mark.setClosed();
  } catch {
    // Then a log of another time would not be known for one.
  }
}

function emptyLog(db: DatabaseSync, path: string): void {
  const { busy } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
  if (busy !== 0) throw new FileFault(path, "busy");
}

function check(db: DatabaseSync, path: string): void {
  // The quick one does not see that an index leads past a row, which nobody would miss.
  const { integrity_check: verdict } = db.prepare("PRAGMA integrity_check(1)").get() as { integrity_check: string };
  if (verdict !== "ok") throw damaged(path, verdict);
}

function damaged(path: string, how: string): FileFault {
  return new FileFault(path, "damaged", { cause: new Error(how) });
}
