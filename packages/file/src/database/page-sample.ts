import { readSync } from "node:fs";
import { crc32 } from "node:zlib";

/** Of the header of a file, where the size of its pages stands; 1 stands for 65,536. */
const PAGE_SIZE_AT = 16;
/** Pages that are spread over the file: all of a file that has no more. */
const SPREAD = 128;

/** What some pages of a file held. */
export class PageSample {
  readonly #file: number;
  readonly #digests = new Map<number, number>();
  readonly #page: Buffer;

  /** Takes the first page, some that are spread over the file, and `more`. */
  constructor(file: number, bytes: number, more: readonly number[] = []) {
    this.#file = file;
    this.#page = Buffer.alloc(pageBytesOf(file));
    const pages = Math.ceil(bytes / this.#page.length);
    const apart = Math.max(1, pages / SPREAD);
    for (let at = 0; at < pages; at += apart) this.#take(Math.floor(at) + 1);
    for (const page of more) this.#take(page);
  }

  /** Whether another program has changed one of them, `but` those that may have changed. */
  isChanged(but?: { has(page: number): boolean }): boolean {
    for (const [page, digest] of this.#digests)
      if (but?.has(page) !== true && crc32(this.read(page)) !== digest) return true;
    return false;
  }

  forget(pages: Iterable<number>): void {
    for (const page of pages) this.#digests.delete(page);
  }

  /** What there is of a page now, in a buffer that the next call writes over. */
  read(page: number): Buffer {
    const { length } = this.#page;
    return this.#page.subarray(0, readSync(this.#file, this.#page, 0, length, (page - 1) * length));
  }

  #take(page: number): void {
    this.#digests.set(page, crc32(this.read(page)));
  }
}

function pageBytesOf(file: number): number {
  const size = Buffer.alloc(2);
  readSync(file, size, 0, size.length, PAGE_SIZE_AT);
  const bytes = size.readUInt16BE(0);
  return bytes === 1 ? 65_536 : bytes;
}
