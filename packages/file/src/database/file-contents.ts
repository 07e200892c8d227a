import { fstatSync, readSync } from "node:fs";
import type { Reading } from "./digests.ts";
import { ForeignWrites, type Sampling } from "./foreign-writes.ts";
import type { LogEnd } from "./log-end.ts";
import { isSame } from "./log-format.ts";

/** Of the header of a file: what is in it from its beginning to its end, such as whose it is and how large its pages are. */
const LASTING = [
  [0, 24],
  [60, 72],
] as const;
const HEADER_BYTES = 72;

/**
 * Whether an open file and its log still hold what was written, as far as that can be told without reading them: who cuts
 * one of them off, or copies another one over it, leaves it where it is, and SQLite does not look.
 */
export class FileContents {
  readonly #file: number;
  readonly #log: number;
  readonly #end: LogEnd;
  readonly #foreign: ForeignWrites;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  readonly #seen = Buffer.alloc(HEADER_BYTES);
  #size = 0;

  constructor(file: number, log: number, end: LogEnd) {
    this.#file = file;
    this.#log = log;
    this.#end = end;
    this.#foreign = new ForeignWrites(file, end);
    readSync(file, this.#header, 0, HEADER_BYTES, 0);
    this.#size = fstatSync(file).size;
  }

  /** Whether one of them does not, as far as the disk lets itself be read. */
  isHarmed(): boolean {
    try {
      return (this.harmToLog() ?? this.harmToFile("all")) !== undefined;
    } catch {
      return false;
    }
  }

  /** Whether that is so of the file itself. */
  isFileHarmed(): boolean {
    try {
      return this.harmToFile("all") !== undefined;
    } catch {
      return false;
    }
  }

  /** What has become of the log. */
  harmToLog(): string | undefined {
    const { bytes, frame, header } = this.#end;
    if (header === undefined || frame === 0) return undefined;
    const { size } = fstatSync(this.#log);
    if (size < bytes) return `its log was cut off while it is in use: it has ${size} bytes of ${bytes}`;
    const now = this.#end.look();
    return now !== undefined && isSame(now.salts, header.salts)
      ? undefined
      : "its log was written over while it is in use";
  }

  /** What has become of the file itself. It grows as the log is brought into it, and never shrinks. */
  harmToFile(which: "written" | "all"): string | undefined {
    const isWrittenOver = this.#foreign.look(which);
    if (which === "written" && !isWrittenOver) return undefined;
    const { size } = fstatSync(this.#file);
    if (size < this.#size) return `it was cut off while it is in use: it has ${size} bytes of ${this.#size}`;
    this.#size = size;
    readSync(this.#file, this.#seen, 0, HEADER_BYTES, 0);
    const isOurs = LASTING.every(([from, to]) => this.#seen.subarray(from, to).equals(this.#header.subarray(from, to)));
    return isOurs && !isWrittenOver ? undefined : "it was written over while it is in use";
  }

  /** Before this process brings the log into the file. False when it must not: what was written there would hide the harm. */
  beginCheckpoint(): boolean {
    try {
      return this.#foreign.beginCheckpoint();
    } catch {
      return false;
    }
  }

  /** What to read for {@link endCheckpoint} when all of the log is in the file. `undefined` when the disk does not say. */
  sampling(): Sampling | undefined {
    try {
      return this.#foreign.sampling();
    } catch {
      return undefined;
    }
  }

  /** After that, however it ended; with what was read, when all of the log is in the file. */
  endCheckpoint(sampling?: Sampling, reading?: Reading): void {
    this.#foreign.endCheckpoint(sampling, reading);
  }
}
