import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { createFile } from "../../src/database/create-file.ts";
import { LogMark, readMark } from "../../src/database/log-mark.ts";
import { NOTES, scratchFolder } from "./support/notes.ts";
import { hidesDescriptors, openDescriptors, watchSyncs } from "./support/system-calls.ts";

test.skipIf(hidesDescriptors)(
  "a file is made whole, of its kind, for its owner only; its name is durable, and nothing else is left",
  () => {
    using scratch = scratchFolder();
    using synced = watchSyncs();
    const before = openDescriptors();
    createFile(scratch.path, NOTES);
    expect(openDescriptors()).toBe(before);
    expect(readdirSync(scratch.folder).toSorted()).toEqual(["notes.db", "notes.db-mark"]);
    expect(statSync(scratch.path).mode & 0o777).toBe(0o600);
    expect(synced.names).toEqual([basename(scratch.folder)]);
    using db = new DatabaseSync(scratch.path, { readOnly: true });
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: NOTES.migrations.length });
    expect(db.prepare("PRAGMA application_id").get()).toEqual({ application_id: NOTES.applicationId });
  },
);

test("what a crash has left of one that was being made is no hindrance", () => {
  using scratch = scratchFolder();
  for (const part of ["-new", "-new-journal"]) writeFileSync(scratch.path + part, "half of it");
  createFile(scratch.path, NOTES);
  expect(readdirSync(scratch.folder).toSorted()).toEqual(["notes.db", "notes.db-mark"]);
});

test("nothing that a former file has left is held against it", () => {
  using scratch = scratchFolder();
  const mark = new LogMark(scratch.path);
  mark.setClosed();
  mark.close();
  createFile(scratch.path, NOTES);
  expect(readMark(scratch.path)).toBeUndefined();
});

test.skipIf(hidesDescriptors)("one that cannot be made is not there, and nothing holds it", () => {
  using scratch = scratchFolder();
  const before = openDescriptors();
  const wrong = { ...NOTES, migrations: ["CREATE TABLE"] };
  expect(() => createFile(scratch.path, wrong)).toThrow("incomplete input");
  expect(existsSync(scratch.path)).toBe(false);
  expect(openDescriptors()).toBe(before);
});
