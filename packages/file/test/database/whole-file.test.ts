import { closeSync, cpSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { carryLogOver } from "../../src/database/connection.ts";
import { sqliteLocation } from "../../src/database/sqlite-location.ts";
import { confirm, openNotes, scratchFolder } from "./support/notes.ts";

const CHECKED_BYTES = 4 * 1024 * 1024;

function overwrite(path: string, at: number, bytes: Buffer): void {
  const handle = openSync(path, "r+");
  writeSync(handle, bytes, 0, bytes.length, at);
  closeSync(handle);
}

/** Reads what is in the file now, and goes on reading that. */
function reader(path: string): DatabaseSync {
  const db = new DatabaseSync(sqliteLocation(path), { readOnly: true });
  db.exec("BEGIN");
  db.prepare("SELECT count(*) FROM note").get();
  return db;
}

describe("a file that is opened", () => {
  test("is checked whole up to 4 MiB: an index that does not fit its rows is damage", () => {
    using scratch = scratchFolder();
    const { path } = scratch;
    const file = openNotes(path);
    confirm(file, "needle");
    file.close();
    overwrite(path, readFileSync(path).lastIndexOf("needle"), Buffer.from("n"));
    openNotes(path).close();
    overwrite(path, readFileSync(path).lastIndexOf("needle"), Buffer.from("f"));
    expect(() => openNotes(path)).toThrow(/damaged/);
    truncateSync(path, CHECKED_BYTES);
    expect(() => openNotes(path)).toThrow(/damaged/);
    truncateSync(path, CHECKED_BYTES + 4096);
    openNotes(path).close();
  });

  test("is in use while somebody in the process reads what its log holds", () => {
    using scratch = scratchFolder();
    using killed = scratchFolder();
    const former = openNotes(scratch.path);
    confirm(former, "a");
    cpSync(scratch.folder, killed.folder, { recursive: true });
    former.close();
    const other = reader(killed.path);
    expect(() => openNotes(killed.path)).toThrow(expect.objectContaining({ fault: "busy" }));
    other.close();
    const file = openNotes(killed.path);
    expect(file.statements.ids()).toEqual(["a"]);
    file.close();
  });

  test("begins a log that is told from the one before it", () => {
    using scratch = scratchFolder();
    const firstSalts = [1, 2, 3].map((each) => {
      const file = openNotes(scratch.path);
      confirm(file, `${each}`);
      const salt = file.logEnd.header?.salts[0];
      file.close();
      return salt;
    });
    expect(new Set(firstSalts).size).toBe(3);
  });
});

describe("a log that is carried over into its file", () => {
  test("is in it, and what somebody writes over that is seen", () => {
    using scratch = scratchFolder();
    const file = openNotes(scratch.path);
    confirm(file, "needle");
    carryLogOver(file);
    const at = readFileSync(scratch.path).lastIndexOf("needle");
    expect(at).toBeGreaterThan(4096);
    expect(file.contents.isFileHarmed()).toBe(false);
    overwrite(scratch.path, at, Buffer.from("f"));
    expect(file.contents.isFileHarmed()).toBe(true);
    file.close();
  });

  test("is left alone when somebody has written over the file", () => {
    using scratch = scratchFolder();
    const file = openNotes(scratch.path);
    confirm(file, "a");
    overwrite(scratch.path, 4096, Buffer.alloc(4096, 7));
    const before = readFileSync(scratch.path);
    carryLogOver(file);
    expect(readFileSync(scratch.path).equals(before)).toBe(true);
    file.close();
  });

  test("as far as nobody reads what was there before says nothing of the rest", () => {
    using scratch = scratchFolder();
    const file = openNotes(scratch.path);
    confirm(file, "a");
    const other = reader(scratch.path);
    confirm(file, "b");
    carryLogOver(file);
    expect(file.contents.isHarmed()).toBe(false);
    other.close();
    carryLogOver(file);
    expect(file.contents.isHarmed()).toBe(false);
    file.close();
  });
});
