import { readSync } from "node:fs";
import type { Pieces } from "./digests.ts";
import {
  type Checksum,
  checksumOfFrame,
  FRAME_HEADER_BYTES,
  frameOf,
  isSame,
  LOG_HEADER_BYTES,
  type LogHeader,
  logHeaderOf,
} from "./log-format.ts";

/**
 * How far an open log goes that nobody writes to but this process: followed from its beginning, because SQLite tells
 * nobody. What becomes of the log afterwards does not change it.
 */
export class LogEnd {
  readonly #log: number;
  readonly #start = Buffer.alloc(LOG_HEADER_BYTES);
  readonly #frameHeader = Buffer.alloc(FRAME_HEADER_BYTES);
  #header: LogHeader | undefined;
  #frame = 0;
  readonly #pages = new Map<number, number | undefined>();
  /** Behind the end there may be frames of a commit that has failed: whole frames tell themselves by their checksums. */
  #hasRemains = false;

  /** `log` is an open file that has no pages yet. */
  constructor(log: number) {
    this.#log = log;
  }

  /** The last frame of the log; 0 when nothing has been written since it was begun anew. */
  get frame(): number {
    return this.#frame;
  }

  /** `undefined` before the first write. */
  get header(): LogHeader | undefined {
    return this.#header;
  }

  /** How long the log has to be. */
  get bytes(): number {
    return this.#header === undefined ? 0 : LOG_HEADER_BYTES + this.#frame * this.#frameBytes(this.#header);
  }

  /**
   * Which pages were written since they were last forgotten, and in which frame each of them was last: `undefined` when the log
   * has begun anew since. No more than the file has.
   */
  get pages(): ReadonlyMap<number, number | undefined> {
    return this.#pages;
  }

  /** All that was written is in the file. */
  forgetPages(): void {
    this.#pages.clear();
  }

  /** Where the pages lie that frames hold. */
  pieces(frames: readonly number[]): Pieces {
    const header = this.#header;
    if (header === undefined) return { file: this.#log, bytes: 0, at: [] };
    const at = frames.map((frame) => this.#startOf(frame, header) + FRAME_HEADER_BYTES);
    return { file: this.#log, bytes: header.pageSize, at };
  }

  /** The header that the log has now; `undefined` when it has none. */
  look(): LogHeader | undefined {
    const length = readSync(this.#log, this.#start, 0, LOG_HEADER_BYTES, 0);
    return logHeaderOf(this.#start.subarray(0, length));
  }

  /** A transaction was committed. */
  follow(): void {
    const header = this.#begin();
    if (header === undefined) return;
    const end = this.#hasRemains ? this.#nextWholeCommit(header) : this.#nextCommit(header);
    if (end !== undefined) this.#frame = end;
  }

  /** One was not: for want of room SQLite may have written part of it. */
  commitFailed(): void {
    this.#begin();
    this.#hasRemains = true;
  }

  /** SQLite may have begun the log anew. */
  #begin(): LogHeader | undefined {
    const header = this.look();
    if (header === undefined) return undefined;
    if (this.#header === undefined || isNext(this.#header, header)) {
      [this.#header, this.#frame, this.#hasRemains] = [header, 0, false];
      for (const page of this.#pages.keys()) this.#pages.set(page, undefined);
    }
    return isSame(this.#header.salts, header.salts) ? header : undefined;
  }

  /** It may have written nothing. */
  #nextCommit(header: LogHeader): number | undefined {
    const pages: number[] = [];
    for (let frame = this.#frame + 1; this.#read(header, frame, this.#frameHeader); frame++) {
      const { page, salts, commits } = frameOf(this.#frameHeader);
      if (!isSame(salts, header.salts)) return undefined;
      pages.push(page);
      if (commits) return this.#wrote(pages, frame);
    }
    return undefined;
  }

  #nextWholeCommit(header: LogHeader): number | undefined {
    const bytes = Buffer.alloc(this.#frameBytes(header));
    const pages: number[] = [];
    let checksum: Checksum = header.checksum;
    if (this.#frame > 0 && this.#read(header, this.#frame, bytes)) checksum = frameOf(bytes).checksum;
    for (let frame = this.#frame + 1; this.#read(header, frame, bytes); frame++) {
      const found = frameOf(bytes);
      checksum = checksumOfFrame(bytes, checksum, header.bigEndian);
      if (!isSame(found.salts, header.salts) || !isSame(found.checksum, checksum)) return undefined;
      pages.push(found.page);
      if (found.commits) return this.#wrote(pages, frame);
    }
    return undefined;
  }

  /** A transaction ends with `frame`, which it returns. */
  #wrote(pages: readonly number[], frame: number): number {
    const first = frame - pages.length + 1;
    for (const [at, page] of pages.entries()) this.#pages.set(page, first + at);
    return frame;
  }

  /** As much of a frame as there is room for. */
  #read(header: LogHeader, frame: number, into: Buffer): boolean {
    return readSync(this.#log, into, 0, into.length, this.#startOf(frame, header)) === into.length;
  }

  #startOf(frame: number, header: LogHeader): number {
    return LOG_HEADER_BYTES + (frame - 1) * this.#frameBytes(header);
  }

  #frameBytes({ pageSize }: LogHeader): number {
    return FRAME_HEADER_BYTES + pageSize;
  }
}

/** Each time SQLite begins a log anew, it adds 1 to its first salt. */
function isNext({ salts: [former] }: LogHeader, { salts: [later] }: LogHeader): boolean {
  return (later - former) >>> 0 === 1;
}
