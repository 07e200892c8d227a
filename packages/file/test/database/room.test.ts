import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noSmallDisk, smallDisk } from "@bridge/tooling/faulty-disk";
import { describe, expect, test } from "vitest";
import type { OpenedFile } from "../../src/database/open-or-create.ts";
import { Room } from "../../src/database/room.ts";
import { confirm, openNotes, scratchFolder } from "./support/notes.ts";
import { sayOfDisks } from "./support/system-calls.ts";

const MIB = 1024 * 1024;
/** The log as large as it may be, and what it may outgrow that by. */
const NEED = 12 * MIB;

function wantsAt(room: Room, file: OpenedFile<unknown>): string | undefined {
  return room.want(file)?.message;
}

describe.skipIf(noSmallDisk)("the room that a file needs to be emptied (needs the right to mount)", () => {
  test("is kept for what makes room, once what is left of the disk is no more than that", () => {
    using disk = smallDisk(64 * 1024);
    const file = openNotes(join(disk.folder, "notes.db"));
    using room = new Room();
    expect(wantsAt(room, file)).toBeUndefined();
    const ballast = join(disk.folder, "ballast");
    writeFileSync(ballast, Buffer.alloc(64 * MIB - NEED - MIB));
    expect(wantsAt(room, file)).toBeUndefined();
    writeFileSync(ballast, Buffer.alloc(64 * MIB - NEED + MIB));
    expect(wantsAt(room, file)).toMatch(/notes\.db: the disk is full: make room \(what is left of it is kept/);
    rmSync(ballast);
    expect(wantsAt(room, file)).toBeUndefined();
    file.close();
  });

  test("is no more than half of a small disk", () => {
    using disk = smallDisk(8 * 1024);
    const file = openNotes(join(disk.folder, "notes.db"));
    using room = new Room();
    expect(wantsAt(room, file)).toBeUndefined();
    writeFileSync(join(disk.folder, "ballast"), Buffer.alloc(5 * MIB));
    expect(wantsAt(room, file)).toMatch(/is full/);
    file.close();
  });

  test("is that of all files on the disk, until one is closed", () => {
    using disk = smallDisk(64 * 1024);
    const [file, other] = ["notes.db", "other.db"].map((name) => openNotes(join(disk.folder, name)));
    using room = new Room();
    writeFileSync(join(disk.folder, "ballast"), Buffer.alloc(64 * MIB - 2 * NEED + 4 * MIB));
    expect(wantsAt(room, file!)).toBeUndefined();
    const second = new Room();
    expect(wantsAt(second, other!)).toMatch(/is full/);
    expect(wantsAt(room, file!)).toMatch(/is full/);
    second[Symbol.dispose]();
    expect(wantsAt(room, file!)).toBeUndefined();
    for (const each of [file, other]) each?.close();
  });

  test("has nothing to do with files on other disks", () => {
    using disk = smallDisk(64 * 1024);
    using elsewhere = smallDisk(64 * 1024);
    const [file, other] = [disk, elsewhere].map(({ folder }) => openNotes(join(folder, "notes.db")));
    using room = new Room();
    using second = new Room();
    writeFileSync(join(disk.folder, "ballast"), Buffer.alloc(64 * MIB - 2 * NEED + 4 * MIB));
    expect([wantsAt(second, other!), wantsAt(room, file!)]).toEqual([undefined, undefined]);
    for (const each of [file, other]) each?.close();
  });

  test("is told with what is written when the file cannot be looked at", () => {
    using disk = smallDisk(8 * 1024);
    const folder = mkdtempSync(join(disk.folder, "store-"));
    const file = openNotes(join(folder, "notes.db"));
    using room = new Room();
    writeFileSync(join(disk.folder, "ballast"), Buffer.alloc(5 * MIB));
    expect(wantsAt(room, file)).toMatch(/is full/);
    rmSync(folder, { recursive: true });
    expect(wantsAt(room, file)).toBeUndefined();
    file.close();
  });
});

describe("there is room", () => {
  test("as long as half of a small disk is free, to the byte", () => {
    using scratch = scratchFolder();
    const file = openNotes(scratch.path);
    using room = new Room();
    for (const [bavail, said] of [
      [500, undefined],
      [499, "is full"],
    ] as const) {
      using _ = sayOfDisks({ blocks: 1_000, bavail });
      const full = wantsAt(room, file);
      if (said === undefined) expect(full).toBeUndefined();
      else expect(full).toContain(said);
    }
    file.close();
  });

  test("in what the log has behind its end only, not in what it holds", () => {
    using scratch = scratchFolder();
    const file = openNotes(scratch.path);
    confirm(file, "a");
    using room = new Room();
    using _ = sayOfDisks({ blocks: 1_000, bavail: 499 });
    expect(wantsAt(room, file)).toContain("is full");
    file.close();
  });

  test("or not, also of a file that was opened again", () => {
    using scratch = scratchFolder();
    using room = new Room();
    using _ = sayOfDisks({ blocks: 1_000, bavail: 499 });
    for (let time = 1; time <= 2; time++) {
      const file = openNotes(scratch.path);
      expect(wantsAt(room, file)).toContain("is full");
      file.close();
    }
  });

  test("on a disk that has no size to tell", () => {
    using scratch = scratchFolder();
    const file = openNotes(scratch.path);
    using room = new Room();
    using _ = sayOfDisks({ blocks: 0, bavail: 0 });
    expect(wantsAt(room, file)).toBeUndefined();
    file.close();
  });
});
