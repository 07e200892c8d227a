import { closeSync, constants, fstatSync, fsyncSync, readFileSync, statSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { LogEnd } from "./log-end.ts";
import { openOwn } from "./own-file.ts";

/** How far a log was durable. */
export interface Mark {
  readonly salts: readonly [number, number];
  /** The last frame that was; 0 when the file was closed, which leaves no log. */
  readonly frame: number;
}

/** A log can have begun anew so often since the mark that the system has kept: it is no further behind than what waits in its cache. */
const MOST_GENERATIONS = 65_536;

const MARK_BYTES = 12;
const WITH_CHECK_BYTES = MARK_BYTES + 4;
/** Instead of a frame: what was confirmed is not in the file any more. */
const SPOILED = 0xff_ff_ff_ff;
/** Not what the check of such a mark would be. */
const NONE = Buffer.alloc(WITH_CHECK_BYTES);

/** Whether a file at `path` was ever written to, whatever has become of it. */
export function wasWritten(path: string): boolean {
  return (statSync(`${path}-mark`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** The mark that the last process left; `undefined` when there is none, or half of one. */
export function readMark(path: string): Mark | undefined {
  let bytes: Buffer;
  try {
    bytes = readFileSync(`${path}-mark`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  if (bytes.length !== WITH_CHECK_BYTES) return undefined;
  if (crc32(bytes.subarray(0, MARK_BYTES)) !== bytes.readUInt32BE(MARK_BYTES)) return undefined;
  return { frame: bytes.readUInt32BE(0), salts: [bytes.readUInt32BE(4), bytes.readUInt32BE(8)] };
}

/** Whether the last process has seen somebody write to the file. */
export function isSpoiled(mark: Mark | undefined): boolean {
  return mark?.frame === SPOILED;
}

/**
 * Whether a log with these salts is one that came after the one that was marked. Each time a log begins anew, SQLite adds 1
 * to its first salt; that of the first log of an open file is random.
 */
export function canFollow({ salts, frame }: Mark, [later]: Mark["salts"]): boolean {
  const generations = (later - salts[0]) >>> 0;
  return frame > 0 && generations > 0 && generations <= MOST_GENERATIONS;
}

/** There is nothing to be held against a log any more. */
export function clearMark(path: string): void {
  const mark = new LogMark(path);
  try {
    mark.clear();
  } finally {
    mark.close();
  }
}

/**
 * Writes down, beside a file, how far its log is durable: the log alone does not tell a write that a crash has torn from
 * a confirmed one that the disk has changed. It is never ahead of the log, because it is written after the log's sync; it
 * is not synced itself, so that it costs next to nothing, survives the end of the process, and is an earlier one or none
 * after a power loss.
 */
export class LogMark {
  readonly #handle: number;
  readonly #bytes = Buffer.alloc(WITH_CHECK_BYTES);
  #maybeSet: boolean;

  constructor(path: string) {
    this.#handle = openOwn(`${path}-mark`, constants.O_RDWR | constants.O_CREAT);
    this.#maybeSet = fstatSync(this.#handle).size > 0;
  }

  /** Everything up to this end of the log is durable. On a full disk the mark stays as it is. */
  set({ frame, header }: LogEnd): void {
    if (header === undefined || frame === 0) return;
    this.#bytes.writeUInt32BE(frame, 0);
    this.#bytes.writeUInt32BE(header.salts[0], 4);
    this.#bytes.writeUInt32BE(header.salts[1], 8);
    this.#write();
  }

  /** The file is closed, and that it has no log is durable: from here on any log beside it is of another time. */
  setClosed(): void {
    this.#bytes.fill(0);
    this.#write();
  }

  /** Somebody has written to the file: durable, because nothing else tells. What the disk does not take is not told. */
  setSpoiled(): void {
    this.#bytes.fill(0);
    this.#bytes.writeUInt32BE(SPOILED, 0);
    this.#write();
    try {
      fsyncSync(this.#handle);
    } catch {}
  }

  /**
   * Before the log is cut off or deleted: durable, so that no power loss brings the mark back. When SQLite begins the log
   * anew by itself, its header with other salts is durable first.
   */
  clear(): void {
    if (!this.#maybeSet) return;
    // Not cut off: on a full disk there would be no room for the next one.
    writeSync(this.#handle, NONE, 0, WITH_CHECK_BYTES, 0);
    fsyncSync(this.#handle);
    this.#maybeSet = false;
  }

  close(): void {
    closeSync(this.#handle);
  }

  #write(): void {
    this.#bytes.writeUInt32BE(crc32(this.#bytes.subarray(0, MARK_BYTES)), MARK_BYTES);
    this.#maybeSet = true;
    try {
      writeSync(this.#handle, this.#bytes, 0, WITH_CHECK_BYTES, 0);
    } catch {
      // An earlier one is as true, and says less.
    }
  }
}
