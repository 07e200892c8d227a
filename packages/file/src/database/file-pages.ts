import { fstatSync, readSync } from "node:fs";
import { type Pieces, readPieces } from "./digests.ts";

/** Of the header of a file, where the size of its pages stands; 1 stands for 65,536. */
const PAGE_SIZE_AT = 16;
/** Pages that are spread over the file: all of a file that has no more. */
const SPREAD = 128;

/** The pages of an open file, by their numbers. */
export class FilePages {
  readonly #file: number;
  readonly #pageBytes: number;

  constructor(file: number) {
    this.#file = file;
    const size = Buffer.alloc(2);
    readSync(file, size, 0, size.length, PAGE_SIZE_AT);
    const bytes = size.readUInt16BE(0);
    this.#pageBytes = bytes === 1 ? 65_536 : bytes;
  }

  /** How many there are. */
  get count(): number {
    return Math.ceil(fstatSync(this.#file).size / this.#pageBytes);
  }

  /** The first of so many pages, and some that are spread over them. */
  spread(pages: number): readonly number[] {
    const count = Math.min(pages, SPREAD);
    return Array.from({ length: count }, (_, at) => Math.floor((at * pages) / count) + 1);
  }

  /** Where they lie. */
  pieces(pages: readonly number[]): Pieces {
    return { file: this.#file, bytes: this.#pageBytes, at: pages.map((page) => (page - 1) * this.#pageBytes) };
  }

  /** What they hold now. */
  digests(pages: readonly number[]): readonly number[] {
    return readPieces([this.pieces(pages)]).digests[0] ?? [];
  }
}
