import { cpSync, existsSync, statSync, truncateSync } from "node:fs";
import { basename } from "node:path";
import { expect, test } from "vitest";
import { isLogFull, LOG_BYTES } from "../../src/database/connection.ts";
import { readMark } from "../../src/database/log-mark.ts";
import { confirm, openNotes, scratchFolder } from "./support/notes.ts";
import { hidesDescriptors, openDescriptors, watchSyncs } from "./support/system-calls.ts";

test("a file that a killed process has left holds what its log held, and nothing is held against its next log", () => {
  using scratch = scratchFolder();
  using killed = scratchFolder();
  const former = openNotes(scratch.path);
  confirm(former, "a");
  cpSync(scratch.folder, killed.folder, { recursive: true });
  former.close();
  expect(readMark(killed.path)?.frame).toBeGreaterThan(0);
  const file = openNotes(killed.path);
  expect(file.statements.ids()).toEqual(["a"]);
  expect(readMark(killed.path)).toBeUndefined();
  expect(statSync(`${killed.path}-wal`).size).toBe(0);
  file.close();
});

test.skipIf(hidesDescriptors)(
  "a file that is closed has no log, says so, and is held no more; its mark was cleared before, so that none is missed",
  () => {
    using scratch = scratchFolder();
    const before = openDescriptors();
    const file = openNotes(scratch.path);
    confirm(file, "a");
    using synced = watchSyncs();
    file.close();
    // That the log is gone is durable before the mark says so.
    expect(synced.names).toEqual(["notes.db-mark", basename(scratch.folder)]);
    expect(existsSync(`${scratch.path}-wal`)).toBe(false);
    expect(readMark(scratch.path)).toEqual({ frame: 0, salts: [0, 0] });
    expect(openDescriptors()).toBe(before);
  },
);

test.skipIf(hidesDescriptors)(
  "a file that is let go keeps its log and its mark, and is held until nobody in the process has it",
  () => {
    using scratch = scratchFolder();
    const before = openDescriptors();
    const file = openNotes(scratch.path);
    confirm(file, "a");
    const mark = readMark(scratch.path);
    const rest = file.letGo();
    expect(openDescriptors()).toBeGreaterThan(before);
    rest[Symbol.dispose]();
    expect(existsSync(`${scratch.path}-wal`)).toBe(true);
    expect(readMark(scratch.path)).toEqual(mark);
    expect(openDescriptors()).toBe(before);
  },
);

test("a log that somebody has cut off stays when the file is closed, and so does what is known of it", () => {
  using scratch = scratchFolder();
  const file = openNotes(scratch.path);
  confirm(file, "a");
  const mark = readMark(scratch.path);
  truncateSync(`${scratch.path}-wal`, 100);
  file.close();
  expect(existsSync(`${scratch.path}-wal`)).toBe(true);
  expect(readMark(scratch.path)).toEqual(mark);
});

test("a log is full when it has outgrown its size", () => {
  using scratch = scratchFolder();
  const file = openNotes(scratch.path);
  truncateSync(`${scratch.path}-wal`, LOG_BYTES);
  expect(isLogFull(file)).toBe(false);
  truncateSync(`${scratch.path}-wal`, LOG_BYTES + 1);
  expect(isLogFull(file)).toBe(true);
  file.close();
});
