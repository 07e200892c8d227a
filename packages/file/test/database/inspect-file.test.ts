import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { createFile } from "../../src/database/create-file.ts";
import type { FileKind } from "../../src/database/file-kind.ts";
import { inspectFile } from "../../src/database/inspect-file.ts";
import type { LogEnd } from "../../src/database/log-end.ts";
import { LogMark } from "../../src/database/log-mark.ts";
import { NOTES, scratchFolder } from "./support/notes.ts";
import { hidesDescriptors, openDescriptors } from "./support/system-calls.ts";

/** A kind of three schemas. */
const KIND: FileKind = { ...NOTES, migrations: [...NOTES.migrations, "CREATE TABLE b (a)", "CREATE TABLE c (a)"] };

function ofSchema(path: string, version: number): void {
  createFile(path, { ...KIND, migrations: KIND.migrations.slice(0, version) });
}

/** Writes into the header of a file. */
function change(path: string, at: number, value: number): void {
  const bytes = readFileSync(path);
  bytes.writeUInt32BE(value, at);
  writeFileSync(path, bytes);
}

function marked(path: string, mark: (mark: LogMark) => void): void {
  const each = new LogMark(path);
  mark(each);
  each.close();
}

function refusal(path: string, kind = KIND): unknown {
  const before = openDescriptors();
  try {
    return inspectFile(path, kind);
  } catch (error) {
    return error;
  } finally {
    expect(openDescriptors()).toBe(before);
  }
}

describe.skipIf(hidesDescriptors)("a place without a file", () => {
  test("is free: nothing is there, or an empty file that was never ours", () => {
    using scratch = scratchFolder();
    expect(refusal(scratch.path)).toBe("absent");
    writeFileSync(scratch.path, "");
    expect(refusal(scratch.path)).toBe("absent");
    // A file that is gone altogether was taken away by somebody.
    rmSync(scratch.path);
    marked(scratch.path, (mark) => mark.setClosed());
    expect(refusal(scratch.path)).toBe("absent");
  });

  test("is damaged when the file is empty, and was written to before", () => {
    using scratch = scratchFolder();
    writeFileSync(scratch.path, "");
    marked(scratch.path, (mark) => mark.setClosed());
    expect(refusal(scratch.path)).toMatchObject({
      fault: "damaged",
      cause: { message: "it is empty, and was written to before" },
    });
  });

  test("is damaged when a log is there; an empty one is none", () => {
    using scratch = scratchFolder();
    writeFileSync(`${scratch.path}-wal`, "");
    expect(refusal(scratch.path)).toBe("absent");
    writeFileSync(`${scratch.path}-wal`, "x");
    expect(refusal(scratch.path)).toMatchObject({
      fault: "damaged",
      cause: { message: "it has a log, and is empty itself" },
    });
  });

  test("and what cannot be read is told", () => {
    using scratch = scratchFolder();
    mkdirSync(scratch.path);
    expect(() => inspectFile(scratch.path, KIND)).toThrow("EISDIR");
    expect(() => inspectFile(`${scratch.path}${"x".repeat(300)}`, KIND)).toThrow("ENAMETOOLONG");
  });
});

describe.skipIf(hidesDescriptors)("a file of another program", () => {
  const foreign = {
    code: "UNAVAILABLE",
    charged: false,
    message: expect.stringMatching(/is no notes file of the bridge/) as string,
  };

  test.each<[string, (path: string) => void]>([
    ["no database", (path) => writeFileSync(path, "x".repeat(200))],
    ["shorter than a header", (path) => writeFileSync(path, readFileSync(path).subarray(0, 99))],
    ["a database of another program", (path) => change(path, 68, 1)],
    ["one that begins otherwise", (path) => change(path, 0, 1)],
    ["one whose name ends otherwise", (path) => change(path, 12, 1)],
  ])("is refused: %s", (_, make) => {
    using scratch = scratchFolder();
    ofSchema(scratch.path, 3);
    make(scratch.path);
    expect(refusal(scratch.path)).toMatchObject(foreign);
  });
});

describe.skipIf(hidesDescriptors)("a file of ours", () => {
  test.each([
    [1, "older"],
    [2, "older"],
    [3, "ours"],
  ])("of schema %i of three is %s", (version, found) => {
    using scratch = scratchFolder();
    ofSchema(scratch.path, version);
    expect(refusal(scratch.path)).toBe(found);
  });

  test("of a newer schema is refused, with what to do", () => {
    using scratch = scratchFolder();
    ofSchema(scratch.path, 3);
    change(scratch.path, 60, 4);
    expect(refusal(scratch.path)).toMatchObject({
      code: "UNAVAILABLE",
      charged: false,
      message: `${scratch.path} was written by a newer release (schema 4, this one knows 3): run that release, or name another path`,
    });
  });

  test("of an older schema than is read is refused, with what to do", () => {
    using scratch = scratchFolder();
    ofSchema(scratch.path, 1);
    expect(refusal(scratch.path, { ...KIND, readsFrom: 2 })).toMatchObject({
      code: "UNAVAILABLE",
      charged: false,
      message: `${scratch.path} was written by an older build (schema 1, this one reads from 2 on): delete notes with that build, or name another path`,
    });
    expect(refusal(scratch.path, { ...KIND, readsFrom: 1 })).toBe("older");
  });

  test("of no schema is damaged", () => {
    using scratch = scratchFolder();
    ofSchema(scratch.path, 3);
    change(scratch.path, 60, 0);
    expect(refusal(scratch.path)).toMatchObject({
      fault: "damaged",
      cause: { message: "its header names no schema" },
    });
  });

  test("that somebody wrote to while it was in use is damaged", () => {
    using scratch = scratchFolder();
    ofSchema(scratch.path, 3);
    marked(scratch.path, (mark) => mark.setSpoiled());
    expect(refusal(scratch.path)).toMatchObject({
      fault: "damaged",
      message: expect.stringMatching(/delete the files beside it that end in -wal and -mark/) as string,
    });
  });

  test("whose log is gone is damaged when confirmed pages were in it", () => {
    using scratch = scratchFolder();
    ofSchema(scratch.path, 3);
    marked(scratch.path, (mark) => mark.set({ frame: 3, header: { salts: [1, 2] } } as unknown as LogEnd));
    expect(refusal(scratch.path)).toMatchObject({
      fault: "damaged",
      message: expect.stringContaining("its log is gone") as string,
    });
  });

  test("is left as it is", () => {
    using scratch = scratchFolder();
    ofSchema(scratch.path, 1);
    const before = readFileSync(scratch.path);
    inspectFile(scratch.path, KIND);
    expect(readFileSync(scratch.path).equals(before)).toBe(true);
    using db = new DatabaseSync(scratch.path, { readOnly: true });
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: 1 });
  });
});
