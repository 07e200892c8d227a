import { closeSync, openSync, readSync } from "node:fs";
import { FileFault } from "./file-fault.ts";
import {
  checksumOfFrame,
  type Checksum,
  type Frame,
  FRAME_HEADER_BYTES,
  frameOf,
  isSame,
  LOG_HEADER_BYTES,
  type LogHeader,
  logHeaderOf,
} from "./log-format.ts";
import { canFollow, type Mark } from "./log-mark.ts";

/**
 * Reads the log of a file before SQLite does, which stops without a word at the first frame that is not as it was
 * written and forgets all that stand behind it. The end of a log that a crash has torn is no damage: nothing in it was
 * confirmed. That is so while only one transaction is concerned, because each is durable before the next one is written,
 * and as long as the mark does not say that it was. A log of another time than the mark would undo, page by page, what was
 * confirmed since.
 *
 * Throws a {@link FileFault} `damaged` that says how much is lost.
 */
export function inspectLog(path: string, mark: Mark | undefined): void {
  const log = openLog(path);
  try {
    const start = Buffer.alloc(LOG_HEADER_BYTES);
    const length = log === undefined ? 0 : readSync(log, start, 0, LOG_HEADER_BYTES, 0);
    const isBlank = start.every((byte) => byte === 0);
    if (log === undefined || isBlank) {
      if (pagesOf(mark) > 0)
        throw damaged(
          path,
          `its log is gone: ${pagesOf(mark)} confirmed pages were in it; if this is a copy that you have put back, delete ${path}-mark`,
        );
      return;
    }
    const header = logHeaderOf(start.subarray(0, length));
    if (header === undefined) {
      const known = pagesOf(mark) === 0 ? "" : `: ${pagesOf(mark)} confirmed pages cannot be read`;
      throw damaged(path, `the header of its log is not as it was written${known}`);
    }
    const found = scan(log, header);
    const confirmed = mark !== undefined && isSame(mark.salts, header.salts) ? mark : undefined;
    if (mark !== undefined && confirmed === undefined && !canFollow(mark, header.salts)) {
      if (mark.frame > 0)
        throw damaged(path, `its log is of another time: ${mark.frame} confirmed pages are not in it`);
      if (found.committed > 0) throw damaged(path, `it has no log, and the one beside it is of another time`);
    }
    const isShort = confirmed !== undefined && found.committed < confirmed.frame;
    if (!found.isOvertaken && !isShort) return;
    throw damaged(path, sentence(found, confirmed));
  } finally {
    if (log !== undefined) closeSync(log);
  }
}

interface Scan {
  /** The last frame of the last transaction that SQLite would find. */
  readonly committed: number;
  /** The first frame that is not as it was written; one behind the last when all are. */
  readonly bad: number;
  /** Frames of this log behind that one that are as they were written, and how many of them end a transaction. */
  readonly behind: number;
  readonly commitsBehind: number;
  /** Whether a transaction was begun behind the one that the bad frame belongs to, which was durable then. */
  readonly isOvertaken: boolean;
}

function scan(log: number, { bigEndian, pageSize, salts, checksum }: LogHeader): Scan {
  const bytes = Buffer.alloc(FRAME_HEADER_BYTES + pageSize);
  let [committed, bad, behind, commitsBehind, isOvertaken] = [0, 0, 0, 0, false];
  let before: { readonly checksum: Checksum; readonly commits: boolean } = { checksum, commits: false };
  let number = 1;
  for (; readFrame(log, bytes, number); number++) {
    const frame = frameOf(bytes);
    const isValid = isOf(salts, frame) && isSame(checksumOfFrame(bytes, before.checksum, bigEndian), frame.checksum);
    if (bad === 0 && isValid) {
      if (frame.commits) committed = number;
    } else if (bad === 0) {
      bad = number;
    } else if (isValid) {
      behind++;
      if (before.commits) isOvertaken = true;
      if (frame.commits) commitsBehind++;
    }
    before = { checksum: frame.checksum, commits: frame.commits && isNear(salts, frame) };
  }
  return { committed, bad: bad === 0 ? number : bad, behind, commitsBehind, isOvertaken };
}

function isOf(salts: LogHeader["salts"], frame: Frame): boolean {
  return frame.page !== 0 && isSame(frame.salts, salts);
}

/** Of this log, even if one of its salts has been changed: those of another one are both different. */
function isNear(salts: LogHeader["salts"], frame: Frame): boolean {
  return frame.salts[0] === salts[0] || frame.salts[1] === salts[1];
}

function readFrame(log: number, bytes: Buffer, number: number): boolean {
  return readSync(log, bytes, 0, bytes.length, LOG_HEADER_BYTES + (number - 1) * bytes.length) === bytes.length;
}

/** How many confirmed pages were in the log. */
function pagesOf(mark: Mark | undefined): number {
  return mark?.frame ?? 0;
}

function openLog(path: string): number | undefined {
  try {
    return openSync(`${path}-wal`, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function sentence({ bad, committed, behind, commitsBehind }: Scan, mark: Mark | undefined): string {
  const place = `its log is not as it was written from page ${bad} on`;
  const lost =
    mark === undefined
      ? `at least ${behind} pages behind it, with the ends of ${commitsBehind} writes, would be lost`
      : `${mark.frame - committed} of ${mark.frame} confirmed pages would be lost`;
  return `${place}: ${lost}`;
}

function damaged(path: string, cause: string): FileFault {
  return new FileFault(path, "damaged", { cause: new Error(cause) });
}
