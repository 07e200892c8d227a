import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { expect, test } from "vitest";
import { FilePages } from "../../src/database/file-pages.ts";
import { scratchFolder } from "./support/notes.ts";

/** A file with so many bytes, whose header says how large its pages are. */
function fileOf(bytes: number, pageSize: number): Disposable & { readonly file: number; readonly pages: FilePages } {
  const scratch = scratchFolder();
  const file = openSync(scratch.path, "w+");
  const size = Buffer.alloc(2);
  size.writeUInt16BE(pageSize);
  writeSync(file, size, 0, 2, 16);
  ftruncateSync(file, bytes);
  const pages = new FilePages(file);
  return {
    file,
    pages,
    [Symbol.dispose]() {
      closeSync(file);
      scratch[Symbol.dispose]();
    },
  };
}

test.each([
  [4_096, 4_096, 1],
  [4_097, 4_096, 2],
  [5 * 512, 512, 5],
  [3 * 65_536, 1, 3],
])("a file of %i bytes, whose header says %i, has %i pages", (bytes, pageSize, count) => {
  using at = fileOf(bytes, pageSize);
  expect(at.pages.count).toBe(count);
});

test("the pages of a file lie one behind the other, and have digests of what they hold", () => {
  using at = fileOf(5 * 512, 512);
  expect(at.pages.pieces([1, 3])).toEqual({ file: at.file, bytes: 512, at: [0, 1_024] });
  expect(at.pages.digests([2, 3])).toEqual([crc32(Buffer.alloc(512)), crc32(Buffer.alloc(512))]);
  const before = at.pages.digests([3])[0];
  writeSync(at.file, Buffer.from("x"), 0, 1, 1_024);
  expect(at.pages.digests([2, 3])[0]).toBe(before);
  expect(at.pages.digests([2, 3])[1]).not.toBe(before);
});

test("pages that are spread are all of a small file, and 128 of a large one, the first among them", () => {
  using at = fileOf(512, 512);
  expect(at.pages.spread(0)).toEqual([]);
  expect(at.pages.spread(3)).toEqual([1, 2, 3]);
  expect(at.pages.spread(128)).toEqual(Array.from({ length: 128 }, (_, page) => page + 1));
  expect(at.pages.spread(256)).toEqual(Array.from({ length: 128 }, (_, page) => 2 * page + 1));
});
