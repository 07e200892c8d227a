import type { FileHandle } from "node:fs/promises";
import { type ChainRecord, isIntact, type Link, readRecord } from "./record.ts";

/** Longer than what is written at once, and than any record. */
export const LOOK_BACK_BYTES = 4 * 1024 * 1024;
const LINE_BREAK = 0x0a;
/** How each line begins, as far as a torn one goes. */
const BEGINNING = Buffer.from('{"timestamp":"');

/** How a file ends. */
export interface Tail {
  /** Its last record; `undefined` when it has none. */
  readonly link: Link | undefined;
  /** Whether that record, as the last whole line, is what was written with this key. */
  readonly intact: boolean;
  /** Whether that record has no HMAC although there is a key. */
  readonly plain: boolean;
  /** Bytes up to the end of the last whole line. */
  readonly size: number;
  /** Bytes after it: a line that was not written to its end. */
  readonly torn: number;
}

/** Reads where the chain of a file ends. Rejects when the file holds something else than records. */
export async function readTail(file: FileHandle, path: string, key: string | undefined): Promise<Tail> {
  const { size: total } = await file.stat();
  const from = Math.max(0, total - LOOK_BACK_BYTES);
  const bytes = Buffer.alloc(total - from);
  for (let read = 0; read < bytes.length;) {
    const { bytesRead } = await file.read(bytes, read, bytes.length - read, from + read);
    if (bytesRead === 0) throw new Error(`${path} became shorter while it was read`);
    read += bytesRead;
  }
  const end = bytes.lastIndexOf(LINE_BREAK) + 1;
  const size = from + end;
  const { record, isLast } = lastRecord(bytes.subarray(0, end));
  if (record !== undefined) {
    const intact = isLast && isIntact(record, key === undefined ? [] : [key]);
    return { link: record, intact, plain: key !== undefined && !record.keyed, size, torn: total - size };
  }
  if (end > 0 || !isTornBeginning(bytes.subarray(end)))
    throw new Error(`${path} is no audit file of a bridge: name another path, or move it away`);
  return { link: undefined, intact: true, plain: false, size, torn: total - size };
}

function lastRecord(lines: Buffer): { readonly record: ChainRecord | undefined; readonly isLast: boolean } {
  for (let end = lines.length - 1; end > 0;) {
    const start = lines.lastIndexOf(LINE_BREAK, end - 1) + 1;
    const record = readRecord(lines.subarray(start, end));
    if (record !== undefined) return { record, isLast: end === lines.length - 1 };
    end = start - 1;
  }
  return { record: undefined, isLast: false };
}

/** Whether this can be what a crash left of a first line; a disk that lost power may have zeros instead. */
function isTornBeginning(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, BEGINNING.length);
  return bytes.subarray(0, length).equals(BEGINNING.subarray(0, length)) || bytes.every((byte) => byte === 0);
}
