import { readSync } from "node:fs";
import { endianness } from "node:os";

/** Where SQLite's index of a log tells what is in the log: https://www.sqlite.org/walformat.html */
const AT = { pageSize: 14, frame: 16, salts: 32 } as const;
const BYTES = 48;
const SALT_BYTES = 8;
/** A page of 64 KiB, which two bytes cannot say. */
const LARGEST = 1;
const isLittleEndian = endianness() === "LE";

/** What SQLite's index, an open file of its own, says of a log. It has the byte order of the machine. */
export class LogIndex {
  readonly #handle: number;
  readonly #bytes = Buffer.alloc(BYTES);

  constructor(handle: number) {
    this.#handle = handle;
  }

  /** Reads it anew. False when it is not there. */
  read(): boolean {
    return readSync(this.#handle, this.#bytes, 0, BYTES, 0) === BYTES;
  }

  /** The last frame of the log; 0 when it is empty, whatever is left in it. */
  get frame(): number {
    return isLittleEndian ? this.#bytes.readUInt32LE(AT.frame) : this.#bytes.readUInt32BE(AT.frame);
  }

  /** As they are in the log. */
  get salts(): Buffer {
    return this.#bytes.subarray(AT.salts, AT.salts + SALT_BYTES);
  }

  get pageSize(): number {
    const size = isLittleEndian ? this.#bytes.readUInt16LE(AT.pageSize) : this.#bytes.readUInt16BE(AT.pageSize);
    return size === LARGEST ? 65_536 : size;
  }
}
