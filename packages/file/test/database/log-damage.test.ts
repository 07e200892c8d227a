import { copyFileSync, cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { type LogFields, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { carryLogOver } from "../../src/database/connection.ts";
import { adding, confirm, Notes, type NotesOptions, openNotes, removing, scratchFolder } from "./support/notes.ts";

const HEADER = 32;
const FRAME = 24 + 4_096;

/** A folder as a process that was killed has left it, after so many writes one after another. */
async function killed(writes: number): Promise<ReturnType<typeof scratchFolder> & { readonly frames: number }> {
  using scratch = scratchFolder();
  const crashed = scratchFolder();
  await using notes = new Notes({ path: scratch.path });
  for (let i = 0; i < writes; i++) await notes.write(adding(`n${i}`, 5_000));
  cpSync(scratch.folder, crashed.folder, { recursive: true });
  return { ...crashed, frames: (readFileSync(`${crashed.path}-wal`).length - HEADER) / FRAME };
}

function flip(path: string, at: number, bit = 0): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
  writeFileSync(path, bytes);
}

/** Where one bit of the third frame from the end of a frame is. */
const FIELDS: readonly (readonly [field: string, at: number])[] = [
  ["page number", 3],
  ["commit size", 7],
  ["first salt", 8],
  ["second salt", 15],
  ["first checksum", 16],
  ["second checksum", 23],
  ["page", 24],
  ["end of the page", FRAME - 1],
];

test.each(FIELDS)(
  "finding 3.1: one bit in the %s of any frame is found before SQLite drops what is behind",
  async (_, at) => {
    using scratch = await killed(6);
    for (const withMark of [true, false]) {
      // Without the mark, what a power loss may have torn is no damage: that may be one of the last two.
      const frames = withMark ? scratch.frames : scratch.frames - 8;
      for (let frame = 0; frame < frames; frame++) {
        using copy = scratchFolder();
        cpSync(scratch.folder, copy.folder, { recursive: true });
        if (!withMark) rmSync(`${copy.path}-mark`);
        flip(`${copy.path}-wal`, HEADER + frame * FRAME + at, 3);
        const before = readFileSync(`${copy.path}-wal`);
        expect(() => new Notes({ path: copy.path }), `frame ${frame} of ${frames}, ${withMark}`).toThrow(
          new RegExp(
            `the file is damaged: .*its log is not as it was written from page ${frame + 1} on: .*\\d+ .*would be lost`,
          ),
        );
        expect(readFileSync(`${copy.path}-wal`).equals(before), "nothing was changed").toBe(true);
      }
    }
  },
);

test("finding 3.1: one bit in the header of the log is found, for SQLite takes such a log for an empty one", async () => {
  using scratch = await killed(3);
  for (let at = 0; at < HEADER; at++) {
    using copy = scratchFolder();
    cpSync(scratch.folder, copy.folder, { recursive: true });
    flip(`${copy.path}-wal`, at, at % 8);
    expect(() => new Notes({ path: copy.path }), `byte ${at}`).toThrow(
      /damaged: .*the header of its log is not as it was written/,
    );
  }
});

test.each<[string, (path: string) => void]>([
  ["deleted", (log) => rmSync(log)],
  ["emptied", (log) => truncateSync(log, 0)],
  ["cut off", (log) => truncateSync(log, HEADER + 3 * FRAME)],
  ["wiped", (log) => writeFileSync(log, Buffer.alloc(readFileSync(log).length))],
])("finding 3.1: a log that was %s after a kill is no empty log", async (_, harm) => {
  using scratch = await killed(4);
  harm(`${scratch.path}-wal`);
  expect(() => new Notes({ path: scratch.path })).toThrow(/the file is damaged: .*its log .*\d+.* confirmed pages/);
});

describe("a log of another time that is put beside a file", () => {
  const OTHER_TIME =
    /the file is damaged: check the disk, and restore a copy .*beside it is of another time|of another time: \d+ confirmed pages/;
  const restored = (log: string, path: string): void => copyFileSync(log, `${path}-wal`);

  test("from before it last began anew, while it was open", async () => {
    using scratch = scratchFolder();
    using crashed = scratchFolder();
    const former = `${scratch.path}-former`;
    const file = openNotes(scratch.path);
    using _ = { [Symbol.dispose]: () => file.close() };
    confirm(file, "a");
    copyFileSync(`${scratch.path}-wal`, former);
    carryLogOver(file);
    confirm(file, "b");
    cpSync(scratch.folder, crashed.folder, { recursive: true });
    restored(former, crashed.path);
    expect(() => new Notes({ path: crashed.path })).toThrow(OTHER_TIME);
  });

  test("from before it was last opened, begun anew more often than today's", async () => {
    using scratch = scratchFolder();
    using crashed = scratchFolder();
    const former = `${scratch.path}-former`;
    {
      const file = openNotes(scratch.path);
      using _ = { [Symbol.dispose]: () => file.close() };
      for (const id of ["a", "b", "c"]) {
        carryLogOver(file);
        confirm(file, id);
      }
      copyFileSync(`${scratch.path}-wal`, former);
    }
    await using notes = new Notes({ path: scratch.path });
    await notes.write(adding("d"));
    cpSync(scratch.folder, crashed.folder, { recursive: true });
    restored(former, crashed.path);
    expect(() => new Notes({ path: crashed.path })).toThrow(OTHER_TIME);
  });

  test("when it was closed, and has none", async () => {
    using scratch = scratchFolder();
    const former = `${scratch.path}-former`;
    {
      await using notes = new Notes({ path: scratch.path });
      await notes.write(adding("a"));
      copyFileSync(`${scratch.path}-wal`, former);
      await notes.write(removing("a"));
    }
    restored(former, scratch.path);
    expect(() => new Notes({ path: scratch.path })).toThrow(OTHER_TIME);
    // Whoever means it says so.
    rmSync(`${scratch.path}-mark`);
    await using notes = new Notes({ path: scratch.path });
    expect(notes.ids()).toEqual(["a"]);
  });
});

test("finding 3.1: a log that was damaged is set aside with its file, and the operator is told how much is behind", async () => {
  using scratch = await killed(6);
  flip(`${scratch.path}-wal`, HEADER + 5 * FRAME + 100);
  const errors: [string, LogFields | undefined][] = [];
  const logger = { ...silentLogger, error: (line: string, fields?: LogFields) => void errors.push([line, fields]) };
  const options: NotesOptions = { path: scratch.path, onDamage: "quarantine", logger };
  {
    await using notes = new Notes(options);
    expect(notes.ids()).toEqual([]);
    expect(notes.health().setAside).toHaveLength(1);
    await notes.write(adding("new"));
  }
  expect(errors.map(([line]) => line)).toEqual([expect.stringMatching(/damaged file was set aside/)]);
  expect(errors[0]?.[1]?.["error"]).toMatch(/\d+ of \d+ confirmed pages would be lost/);
  await using notes = new Notes(options);
  expect(notes.ids()).toEqual(["new"]);
});

test("a mark that is torn, changed or of a copy from before is held against nothing", async () => {
  using scratch = await killed(3);
  for (const harm of [
    () => flip(`${scratch.path}-mark`, 2),
    () => truncateSync(`${scratch.path}-mark`, 5),
    () => writeFileSync(`${scratch.path}-mark`, ""),
  ]) {
    using copy = scratchFolder();
    harm();
    cpSync(scratch.folder, copy.folder, { recursive: true });
    await using notes = new Notes({ path: copy.path });
    expect(notes.ids()).toEqual(["n0", "n1", "n2"]);
  }
});
