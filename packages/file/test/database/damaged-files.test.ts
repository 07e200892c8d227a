import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DamagedFiles } from "../../src/database/damaged-files.ts";
import { scratchFolder } from "./support/notes.ts";
import { hidesDescriptors, openDescriptors } from "./support/system-calls.ts";

const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const NAME = "notes.db.damaged-20260102T030405678Z";

describe("a damaged file", () => {
  test("is set aside with its log and its mark, under a name that says when", () => {
    using scratch = scratchFolder();
    for (const part of ["", "-wal", "-mark", "-lock"]) writeFileSync(scratch.path + part, part);
    const files = new DamagedFiles(scratch.path);
    expect(files.setAside(AT)).toBe(join(scratch.folder, NAME));
    expect(readdirSync(scratch.folder).toSorted()).toEqual(
      ["notes.db-lock", NAME, `${NAME}-mark`, `${NAME}-wal`].toSorted(),
    );
    expect(readFileSync(join(scratch.folder, `${NAME}-wal`), "utf8")).toBe("-wal");
  });

  test("is set aside as far as it is there, or as is asked for", () => {
    using scratch = scratchFolder();
    for (const part of ["", "-wal"]) writeFileSync(scratch.path + part, part);
    const files = new DamagedFiles(scratch.path);
    files.setAside(AT, ["-mark", "-wal"]);
    expect(readdirSync(scratch.folder).toSorted()).toEqual(["notes.db", `${NAME}-wal`]);
  });

  test("that cannot be set aside is told", () => {
    using scratch = scratchFolder();
    writeFileSync(scratch.path, "");
    mkdirSync(join(scratch.folder, NAME));
    expect(() => new DamagedFiles(scratch.path).setAside(AT)).toThrow("EISDIR");
  });
});

describe("what was set aside", () => {
  test("is named once looked at, each file once, in order, until it was moved away", () => {
    using scratch = scratchFolder();
    const files = new DamagedFiles(scratch.path);
    expect(files.unacknowledged).toEqual([]);
    for (const name of ["2", "2-wal", "2-mark", "1-wal", "3", "3.acknowledged", "4-mark"])
      writeFileSync(`${scratch.path}.damaged-${name}`, "");
    for (const other of ["other.db.damaged-1", "damaged-1", "notes.db", "a-notes.db.damaged-1"])
      writeFileSync(join(scratch.folder, other), "");
    // Cheap while there is none: nobody looks.
    expect(files.unacknowledged).toEqual([]);
    files.look();
    expect(files.unacknowledged).toEqual(["1", "2"].map((name) => `${scratch.path}.damaged-${name}`));
    rmSync(`${scratch.path}.damaged-1-wal`);
    expect(files.unacknowledged).toEqual([`${scratch.path}.damaged-2`]);
    for (const part of ["", "-wal"]) rmSync(`${scratch.path}.damaged-2${part}`);
    expect(files.unacknowledged).toEqual([]);
  });

  test("is named as the file is called, whatever that is", () => {
    using scratch = scratchFolder();
    const path = join(scratch.folder, "a-wal-mark.db");
    const files = new DamagedFiles(path);
    writeFileSync(`${path}.damaged-1-wal`, "");
    files.look();
    expect(files.unacknowledged).toEqual([`${path}.damaged-1`]);
  });

  test("stays named when its folder cannot be read", () => {
    using scratch = scratchFolder();
    const folder = join(scratch.folder, "store");
    mkdirSync(folder);
    const files = new DamagedFiles(join(folder, "notes.db"));
    writeFileSync(join(folder, NAME), "");
    files.look();
    rmSync(folder, { recursive: true });
    expect(files.unacknowledged).toEqual([join(folder, NAME)]);
  });

  test.skipIf(hidesDescriptors)("is acknowledged for good, by a marker for its owner only", () => {
    using scratch = scratchFolder();
    const files = new DamagedFiles(scratch.path);
    const aside = join(scratch.folder, NAME);
    for (const part of ["", "-wal"]) writeFileSync(aside + part, "");
    const before = openDescriptors();
    expect(files.acknowledge()).toEqual([aside]);
    expect(openDescriptors()).toBe(before);
    expect(files.unacknowledged).toEqual([]);
    expect(readdirSync(scratch.folder)).toContain(`${NAME}.acknowledged`);
    const later = new DamagedFiles(scratch.path);
    later.look();
    expect(later.unacknowledged).toEqual([]);
    expect(later.acknowledge()).toEqual([]);
  });

  test("is acknowledged as far as the disk takes it, and what it does not is told", () => {
    using scratch = scratchFolder();
    const files = new DamagedFiles(scratch.path);
    // What is told next cannot be made: its name is too long for a marker.
    const long = `${scratch.path}.damaged-2${"x".repeat(228)}`;
    for (const file of [`${scratch.path}.damaged-1`, long]) writeFileSync(file, "");
    expect(() => files.acknowledge()).toThrow(expect.objectContaining({ fault: "no_place" }) as Error);
    expect(existsSync(`${scratch.path}.damaged-1.acknowledged`)).toBe(true);
    expect(files.unacknowledged).toEqual([long]);
  });
});

describe("a log that was set aside", () => {
  test("is put back, and is named no more", () => {
    using scratch = scratchFolder();
    const files = new DamagedFiles(scratch.path);
    writeFileSync(`${scratch.path}-wal`, "log");
    const aside = files.setAside(AT, ["-wal"]);
    files.look();
    expect(files.unacknowledged).toEqual([aside]);
    files.putBackLog(aside);
    expect(readFileSync(`${scratch.path}-wal`, "utf8")).toBe("log");
    expect(files.unacknowledged).toEqual([]);
  });

  test("stays there when another one is in its place", () => {
    using scratch = scratchFolder();
    const files = new DamagedFiles(scratch.path);
    writeFileSync(`${scratch.path}-wal`, "log");
    const aside = files.setAside(AT, ["-wal"]);
    writeFileSync(`${scratch.path}-wal`, "other");
    files.putBackLog(aside);
    expect(readFileSync(`${scratch.path}-wal`, "utf8")).toBe("other");
    expect(readFileSync(`${aside}-wal`, "utf8")).toBe("log");
  });
});
