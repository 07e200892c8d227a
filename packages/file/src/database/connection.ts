import { closeSync, constants, existsSync, fstatSync, openSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { type Reading, readPieces } from "./digests.ts";
import { FileContents } from "./file-contents.ts";
import { FileFault } from "./file-fault.ts";
import type { FileKind } from "./file-kind.ts";
import { FilePlace } from "./file-place.ts";
import { syncFolder } from "./folder.ts";
import { LogEnd } from "./log-end.ts";
import { LogMark } from "./log-mark.ts";
import { mend } from "./mend.ts";
import { migrate } from "./migrate.ts";
import { hasSchemaOf } from "./schema.ts";
import { sqliteLocation } from "./sqlite-location.ts";
import { writeLogAgain } from "./write-log-again.ts";

/** Above this the log is brought into the file; it keeps that size, so that writing to it need not allocate. */
export const LOG_BYTES = 8 * 1024 * 1024;
const CACHE_KIB = 16 * 1024;
/** A file up to this size is checked whole when it is opened (about 6 ms a megabyte), a larger one as it is used. */
const CHECKED_BYTES = 4 * 1024 * 1024;

/** An open file, its log under a handle of its own so that it can be synced off the main thread. */
export interface Connection {
  readonly db: DatabaseSync;
  /** Of the write-ahead log. */
  readonly log: number;
  readonly logEnd: LogEnd;
  readonly mark: LogMark;
  readonly place: FilePlace;
  readonly contents: FileContents;
  /** Brings the log into the file, and deletes it. */
  close(): void;
  /**
   * Closes the file and leaves its log alone, which may seem to hold what the disk has not. To be disposed when nobody in the
   * process has the file open any more: until then that keeps everybody else from bringing the log into the file.
   */
  letGo(): Disposable;
}

/**
 * Opens a file that is there and ours, whose lock is held. Everything that its log holds is in the file itself
 * afterwards, and was written again before: nothing rests on pages that only the cache knows.
 *
 * Throws what {@link FileFault.of} knows; `damaged` when the file cannot be used.
 */
export function openConnection(path: string, kind: FileKind): Connection {
  writeLogAgain(path);
  const location = sqliteLocation(path);
  const mark = new LogMark(path);
  const db = openWith(mark, location);
  const handles: number[] = [];
  let anchor: DatabaseSync | undefined;
  let opened: Pick<Connection, "place" | "contents"> | undefined;
  const letGo = (): Disposable => {
    if (opened?.place.has("") === true && opened.contents.isFileHarmed()) mark.setSpoiled();
    const rest = {
      [Symbol.dispose]() {
        anchor?.close();
        // After SQLite: closing any handle of a file gives up the locks that the process has on it.
        for (const handle of handles) closeSync(handle);
        mark.close();
      },
    };
    try {
      db.close();
    } catch (error) {
      rest[Symbol.dispose]();
      throw error;
    }
    return rest;
  };
  const close = (): void => {
    // The log that somebody has harmed stays, and its mark, so that what SQLite makes of that now is not taken for sound.
    if (opened?.contents.isHarmed() !== true && isCleared(mark)) {
      anchor?.close();
      anchor = undefined;
    }
    using _ = letGo();
    if (anchor === undefined && opened?.place.has("") === true && !existsSync(`${path}-wal`)) noteClosed(path, mark);
  };
  try {
    // From here on the log may begin anew at any time.
    mark.clear();
    migrate(db, kind);
    // NORMAL leaves the sync of each commit to us, and still syncs log and file around each checkpoint.
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");
    db.exec(`PRAGMA journal_size_limit = ${LOG_BYTES}; PRAGMA cache_size = -${kind.cacheKib ?? CACHE_KIB}`);
    // So that only a commit writes to the log.
    db.exec("PRAGMA cache_spill = OFF");
    // SQLite makes its log when it first reads.
    db.exec("PRAGMA schema_version");
    const hold = (part: string): number => {
      const handle = openSync(path + part, constants.O_RDWR);
      handles.push(handle);
      return handle;
    };
    const [file, log] = [hold(""), hold("-wal")];
    // SQLite does so too, and does not mind when it fails.
    syncFolder(path);
    // An empty log is left alone: it begins with random salts then, and with the same ones as each before it otherwise.
    if (fstatSync(log).size > 0) emptyLog(db, path);
    if (!hasSchemaOf(db, kind)) throw damaged(path, "its tables are not those it was made with");
    if (statSync(path).size <= CHECKED_BYTES) check(db, path);
    if (mend(db, kind)) emptyLog(db, path);
    anchor = openAnchor(location);
    const logEnd = new LogEnd(log);
    opened = { place: new FilePlace(path), contents: new FileContents(file, log, logEnd) };
    return { db, log, logEnd, mark, ...opened, close, letGo };
  } catch (error) {
    close();
    throw error;
  }
}

/** An attempt that fails, which is made again and again, holds on to nothing. */
function openWith(mark: LogMark, location: string): DatabaseSync {
  try {
    return new DatabaseSync(location);
  } catch (error) {
    mark.close();
    throw error;
  }
}

/**
 * Has the file open, and so keeps SQLite from bringing the log into it when the last other connection is closed. It does not
 * do so itself, because it may only read.
 */
function openAnchor(location: string): DatabaseSync {
  const anchor = new DatabaseSync(location, { readOnly: true });
  try {
    anchor.exec("PRAGMA schema_version");
    return anchor;
  } catch (error) {
    anchor.close();
    throw error;
  }
}

/** When it is not, the log has to stay, too. */
function isCleared(mark: LogMark): boolean {
  try {
    mark.clear();
    return true;
  } catch {
    return false;
  }
}

/**
 * Brings the log into the file, wherever both are now: whoever opens the file next may not find the log. What is not done
 * now stays in the log.
 */
export function carryLogOver({ db, contents }: Connection): void {
  if (!contents.beginCheckpoint()) return;
  const sampling = contents.sampling();
  let reading: Reading | undefined;
  try {
    const { busy, log, checkpointed } = db.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() as Record<string, number>;
    if (busy === 0 && log === checkpointed) reading = sampling && readPieces(sampling.pieces);
  } finally {
    contents.endCheckpoint(sampling, reading);
  }
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
