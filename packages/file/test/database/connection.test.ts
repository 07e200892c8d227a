import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { basename } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { expect, test, vi } from "vitest";
import { carryLogOver, isLogFull, LOG_BYTES, openConnection } from "../../src/database/connection.ts";
import { isSpoiled, readMark } from "../../src/database/log-mark.ts";
import { sqliteLocation } from "../../src/database/sqlite-location.ts";
import { confirm, NOTES, openNotes, prepareNotes, scratchFolder } from "./support/notes.ts";
import { failSyncsOf, hidesDescriptors, openDescriptors, watchSyncs } from "./support/system-calls.ts";

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

test.skipIf(hidesDescriptors)(
  "what the log of a killed process holds is made durable once more before anything else: only the cache may know of it",
  () => {
    using scratch = scratchFolder();
    using killed = scratchFolder();
    const former = openNotes(scratch.path);
    confirm(former, "a");
    cpSync(scratch.folder, killed.folder, { recursive: true });
    former.close();
    using synced = watchSyncs();
    const file = openNotes(killed.path);
    expect(synced.names).toEqual(["notes.db-wal", "notes.db-mark", basename(killed.folder)]);
    file.close();
  },
);

test.skipIf(hidesDescriptors)("a file that SQLite does not close well is held by nobody all the same", () => {
  using scratch = scratchFolder();
  const before = openDescriptors();
  const file = openNotes(scratch.path);
  file.db.close();
  expect(() => file.letGo()).toThrow("database is not open");
  expect(openDescriptors()).toBe(before);
});

test.skipIf(hidesDescriptors)(
  "a file whose mark cannot be cleared is closed with its log, which the mark tells of",
  () => {
    using scratch = scratchFolder();
    const file = openNotes(scratch.path);
    confirm(file, "a");
    const log = readFileSync(`${scratch.path}-wal`);
    {
      using _ = failSyncsOf("notes.db-mark");
      file.close();
    }
    expect(readFileSync(`${scratch.path}-wal`).equals(log)).toBe(true);
    const again = openNotes(scratch.path);
    expect(again.statements.ids()).toEqual(["a"]);
    again.close();
  },
);

test("what somebody writes over a file is noted beside it, even where its log is gone too", () => {
  for (const isLogGone of [false, true]) {
    using scratch = scratchFolder();
    const file = openNotes(scratch.path);
    confirm(file, "a");
    writeFileSync(scratch.path, Buffer.alloc(statSync(scratch.path).size));
    if (isLogGone) rmSync(`${scratch.path}-wal`);
    file.close();
    expect(isSpoiled(readMark(scratch.path))).toBe(true);
  }
});

test("what somebody writes over a file is not held against another one in its place", () => {
  using scratch = scratchFolder();
  const file = openNotes(scratch.path);
  confirm(file, "a");
  const mark = readMark(scratch.path);
  writeFileSync(scratch.path, Buffer.alloc(statSync(scratch.path).size));
  renameSync(scratch.path, `${scratch.path}-elsewhere`);
  file.letGo()[Symbol.dispose]();
  expect(readMark(scratch.path)).toEqual(mark);
});

test("a file that was closed while it was away with its log has all of it when both are back", () => {
  using scratch = scratchFolder();
  const file = openNotes(scratch.path);
  confirm(file, "a");
  const move = (from: string, to: string): void => {
    for (const part of ["", "-wal"]) renameSync(from + part, to + part);
  };
  move(scratch.path, `${scratch.path}-away`);
  file.close();
  move(`${scratch.path}-away`, scratch.path);
  const again = openNotes(scratch.path);
  expect(again.statements.ids()).toEqual(["a"]);
  again.close();
});

test("a file whose log cannot be brought into it at the end does not say that it has none", () => {
  using scratch = scratchFolder();
  const file = openNotes(scratch.path);
  confirm(file, "a");
  const other = new DatabaseSync(sqliteLocation(scratch.path), { readOnly: true });
  other.exec("BEGIN; SELECT * FROM note");
  file.close();
  expect(existsSync(`${scratch.path}-wal`)).toBe(true);
  expect(readMark(scratch.path)).toBeUndefined();
  other.close();
});

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

test("only a commit writes to the log, however much a transaction has changed", () => {
  using scratch = scratchFolder();
  openNotes(scratch.path).close();
  const file = openConnection(scratch.path, { ...NOTES, cacheKib: 16 });
  const notes = prepareNotes(file.db);
  file.db.exec("BEGIN");
  for (let i = 0; i < 50; i++) notes.add(`${i}`, new Uint8Array(4_000));
  expect(statSync(`${scratch.path}-wal`).size).toBe(0);
  file.db.exec("COMMIT");
  expect(statSync(`${scratch.path}-wal`).size).toBeGreaterThan(50 * 4_000);
  file.close();
});

test("a file with an index that it was not made with is damaged", () => {
  using scratch = scratchFolder();
  openNotes(scratch.path).close();
  {
    using other = new DatabaseSync(scratch.path);
    other.exec("CREATE INDEX other ON note (bytes)");
  }
  const cause: unknown = expect.objectContaining({ message: "its tables are not those it was made with" });
  expect(() => openConnection(scratch.path, NOTES)).toThrow(expect.objectContaining({ fault: "damaged", cause }));
});

test.skipIf(hidesDescriptors)(
  "an attempt to open a file that fails, at whichever step of it, holds on to nothing",
  () => {
    using scratch = scratchFolder();
    openNotes(scratch.path).close();
    const before = openDescriptors();
    const folder = `${scratch.path}-folder`;
    mkdirSync(folder);
    expect(() => openConnection(folder, NOTES)).toThrow("unable to open database file");
    expect(openDescriptors()).toBe(before);
    const exec = Reflect.get(DatabaseSync.prototype, "exec");
    let reads = 0;
    using _ = vi.spyOn(DatabaseSync.prototype, "exec").mockImplementation(function (this: DatabaseSync, sql) {
      if (sql === "PRAGMA schema_version" && ++reads === 2) throw new Error("disk I/O error");
      exec.call(this, sql);
    });
    expect(() => openConnection(scratch.path, NOTES)).toThrow("disk I/O error");
    expect(openDescriptors()).toBe(before);
  },
);

test("a log that another process is bringing into the file says nothing yet of what the file holds", () => {
  using scratch = scratchFolder();
  const file = openNotes(scratch.path);
  confirm(file, "a");
  using ended = vi.spyOn(file.contents, "endCheckpoint");
  carryLogOver(file);
  expect(ended).toHaveBeenLastCalledWith(expect.anything(), expect.anything());
  confirm(file, "b");
  // What SQLite answers then.
  const busy = { busy: 1, log: -1, checkpointed: -1 };
  {
    using _ = vi.spyOn(file.db, "prepare").mockReturnValue({ get: () => busy } as unknown as StatementSync);
    carryLogOver(file);
  }
  expect(ended).toHaveBeenLastCalledWith(expect.anything(), undefined);
  file.close();
});
