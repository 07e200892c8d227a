import { closeSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { carryLogOver } from "../../src/database/connection.ts";
import { readPieces } from "../../src/database/digests.ts";
import { FileContents } from "../../src/database/file-contents.ts";
import type { LogEnd } from "../../src/database/log-end.ts";
import type { OpenedFile } from "../../src/database/open-or-create.ts";
import { confirm, type NoteStatements, openNotes, scratchFolder } from "./support/notes.ts";

type Opened = Disposable & OpenedFile<NoteStatements>;

/** An open file with a note in its log. */
function opened(): Opened {
  const scratch = scratchFolder();
  const file = openNotes(scratch.path);
  confirm(file, "a");
  return {
    ...file,
    [Symbol.dispose]() {
      file.close();
      scratch[Symbol.dispose]();
    },
  };
}

function put(path: string, at: number, bytes: Buffer): void {
  const file = openSync(path, "r+");
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

function flip(path: string, at: number): void {
  put(path, at, Buffer.from([(readFileSync(path)[at] ?? 0) ^ 1]));
}

describe("an open file that holds what was written", () => {
  test("is not harmed, whatever is asked", () => {
    using file = opened();
    const { contents } = file;
    expect([contents.isHarmed(), contents.isFileHarmed()]).toEqual([false, false]);
    expect([contents.harmToLog(), contents.harmToFile("written"), contents.harmToFile("all")]).toEqual(
      Array(3).fill(undefined),
    );
  });

  test("is not harmed by what this process brings into it, nor by what it writes then", () => {
    using file = opened();
    for (const id of ["b", "c"]) {
      carryLogOver(file);
      expect(file.contents.isHarmed()).toBe(false);
      confirm(file, id);
      expect(file.contents.isHarmed()).toBe(false);
    }
  });

  test("is not harmed while nothing is in its log, whatever becomes of that", () => {
    using scratch = scratchFolder();
    const file = openNotes(scratch.path);
    truncateSync(`${scratch.path}-wal`, 0);
    expect(file.contents.harmToLog()).toBeUndefined();
    file.close();
  });

  test("is not harmed while its log has begun anew with a commit that failed, whatever becomes of that", () => {
    using file = opened();
    const { header } = file.logEnd;
    const begun = { header, frame: 0, bytes: 32, look: () => undefined } as unknown as LogEnd;
    const handle = openSync(file.path, "r");
    expect(new FileContents(handle, handle, begun).harmToLog()).toBeUndefined();
    closeSync(handle);
  });

  test("is not harmed by what changes as it is used: counts and sizes in its header", () => {
    using file = opened();
    for (const at of [24, 59, 72]) flip(file.path, at);
    // Somebody has written to it all the same.
    expect(file.contents.harmToFile("all")).toBe("it was written over while it is in use");
  });
});

describe("an open file whose log", () => {
  test("was cut off is harmed, by as much as is missing", () => {
    using file = opened();
    const { bytes } = file.logEnd;
    truncateSync(`${file.path}-wal`, bytes);
    expect(file.contents.harmToLog()).toBeUndefined();
    truncateSync(`${file.path}-wal`, bytes - 1);
    expect(file.contents.harmToLog()).toBe(
      `its log was cut off while it is in use: it has ${bytes - 1} bytes of ${bytes}`,
    );
    expect([file.contents.isHarmed(), file.contents.isFileHarmed()]).toEqual([true, false]);
  });

  test.each([
    ["is of another time", 16],
    ["has no header any more", 0],
  ])("%s is harmed", (_, at) => {
    using file = opened();
    using other = opened();
    if (at === 16) put(`${file.path}-wal`, 0, readFileSync(`${other.path}-wal`).subarray(0, 32));
    else flip(`${file.path}-wal`, at);
    expect(file.contents.harmToLog()).toBe("its log was written over while it is in use");
    expect(file.contents.isHarmed()).toBe(true);
  });
});

describe("an open file that somebody", () => {
  test("has cut off is harmed", () => {
    using file = opened();
    const { length } = readFileSync(file.path);
    truncateSync(file.path, length - 1);
    const harm = `it was cut off while it is in use: it has ${length - 1} bytes of ${length}`;
    expect(file.contents.harmToFile("written")).toBe(harm);
    expect([file.contents.isHarmed(), file.contents.isFileHarmed()]).toEqual([true, true]);
  });

  test("has cut off after it had grown is harmed, too", () => {
    using file = opened();
    confirm(file, "b".repeat(20_000));
    carryLogOver(file);
    expect(file.contents.isHarmed()).toBe(false);
    const { length } = readFileSync(file.path);
    truncateSync(file.path, length - 4_096);
    expect(file.contents.harmToFile("all")).toContain(`has ${length - 4_096} bytes of ${length}`);
  });

  test.each([0, 17, 23, 60, 71])(
    "has changed at byte %i, which lasts, is harmed: with the next look at all of it",
    (at) => {
      using file = opened();
      // While a checkpoint goes on only its header tells.
      expect(file.contents.beginCheckpoint()).toBe(true);
      flip(file.path, at);
      expect(file.contents.harmToFile("written")).toBeUndefined();
      expect(file.contents.harmToFile("all")).toBe("it was written over while it is in use");
      flip(file.path, at);
      file.contents.endCheckpoint();
    },
  );

  test.each([24, 59])("may have changed at byte %i meanwhile: that changes as it is written to", (at) => {
    using file = opened();
    expect(file.contents.beginCheckpoint()).toBe(true);
    flip(file.path, at);
    expect(file.contents.harmToFile("all")).toBeUndefined();
    flip(file.path, at);
    file.contents.endCheckpoint();
  });

  test("has written over gets nothing from its log", () => {
    using file = opened();
    flip(file.path, 5_000);
    expect(file.contents.beginCheckpoint()).toBe(false);
    carryLogOver(file);
    expect(file.logEnd.pages.size).toBeGreaterThan(0);
  });
});

test("what the disk does not let anybody look at is not taken for harm, and is left alone", () => {
  using file = opened();
  const [handle, log] = [openSync(file.path, "r"), openSync(`${file.path}-wal`, "r")];
  const contents = new FileContents(handle, log, file.logEnd);
  closeSync(handle);
  closeSync(log);
  expect([contents.isHarmed(), contents.isFileHarmed()]).toEqual([false, false]);
  expect([contents.beginCheckpoint(), contents.sampling()]).toEqual([false, undefined]);
});

test("what is brought into the file is known when it was read afterwards", () => {
  using file = opened();
  file.contents.beginCheckpoint();
  file.db.exec("PRAGMA wal_checkpoint(PASSIVE)");
  const sampling = file.contents.sampling();
  expect(sampling?.pages.length).toBeGreaterThan(0);
  file.contents.endCheckpoint(sampling, readPieces(sampling?.pieces ?? []));
  expect(file.logEnd.pages.size).toBe(0);
});
