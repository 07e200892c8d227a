import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { writeLogAgain } from "../../src/database/write-log-again.ts";
import { scratchFolder } from "./support/notes.ts";
import { hidesDescriptors, openDescriptors, takeAtMost, watchCalls, watchSyncs } from "./support/system-calls.ts";

const CHUNK_BYTES = 1024 * 1024;

test.skipIf(hidesDescriptors).each([1, CHUNK_BYTES, 2 * CHUNK_BYTES + 5])(
  "a log of %i bytes is written again as it is, all of it, and synced then",
  (size) => {
    using scratch = scratchFolder();
    const log = Buffer.from(Array.from({ length: 1_000 }, (_, at) => at % 251));
    const bytes = Buffer.alloc(size, log);
    writeFileSync(`${scratch.path}-wal`, bytes);
    const before = openDescriptors();
    using written = watchCalls("writeSync");
    using synced = watchSyncs();
    writeLogAgain(scratch.path);
    expect(readFileSync(`${scratch.path}-wal`).equals(bytes)).toBe(true);
    expect(synced.names).toEqual(["notes.db-wal"]);
    expect(openDescriptors()).toBe(before);
    // Where each piece lies, and how long it is: one after the other, and no more.
    let at = 0;
    for (const [, , from, length, position] of written.calls as (readonly number[])[]) {
      expect([from, position]).toEqual([0, at]);
      at += length ?? 0;
    }
    expect(at).toBe(size);
  },
);

test("a disk that takes less at once is given the rest", () => {
  using scratch = scratchFolder();
  const bytes = Buffer.from(Array.from({ length: 10_000 }, (_, at) => at % 251));
  writeFileSync(`${scratch.path}-wal`, bytes);
  using written = watchCalls("writeSync");
  using _ = takeAtMost(4_000);
  writeLogAgain(scratch.path);
  expect(readFileSync(`${scratch.path}-wal`).equals(bytes)).toBe(true);
  expect(written.calls.map((call) => call.slice(2))).toEqual([
    [0, 4_000, 0],
    [4_000, 4_000, 4_000],
    [8_000, 2_000, 8_000],
  ]);
});

test.skipIf(hidesDescriptors)("an empty log goes, so that its name is made again", () => {
  using scratch = scratchFolder();
  writeFileSync(`${scratch.path}-wal`, "");
  using synced = watchSyncs();
  const before = openDescriptors();
  writeLogAgain(scratch.path);
  expect(existsSync(`${scratch.path}-wal`)).toBe(false);
  expect([synced.names, openDescriptors()]).toEqual([[], before]);
});

test("where no log is, nothing is done", () => {
  using scratch = scratchFolder();
  writeLogAgain(scratch.path);
  expect(existsSync(`${scratch.path}-wal`)).toBe(false);
});

test.skipIf(hidesDescriptors)("what is no log, or one that the disk does not give, is told", () => {
  using scratch = scratchFolder();
  mkdirSync(`${scratch.path}-wal`);
  expect(() => writeLogAgain(scratch.path)).toThrow("EISDIR");
  const before = openDescriptors();
  using other = scratchFolder();
  symlinkSync("/proc/self/mem", `${other.path}-wal`);
  expect(() => writeLogAgain(other.path)).toThrow(/EIO|EFAULT|EPERM|EACCES/);
  expect(openDescriptors()).toBe(before);
});
