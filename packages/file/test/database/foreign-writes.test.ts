import { times } from "@bridge/tooling/long";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  fchmodSync,
  fstatSync,
  futimesSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { carryLogOver } from "../../src/database/connection.ts";
import { readPieces } from "../../src/database/digests.ts";
import { ForeignWrites } from "../../src/database/foreign-writes.ts";
import type { LogEnd } from "../../src/database/log-end.ts";
import type { OpenedFile } from "../../src/database/open-or-create.ts";
import { runTogether } from "../../src/database/transaction.ts";
import { adding, type NoteStatements, openNotes, removing, scratchFolder } from "./support/notes.ts";
import { watchCalls } from "./support/system-calls.ts";

const PAGE = 4_096;

type Step =
  | { readonly does: "write"; readonly notes: number; readonly bytes: number }
  | { readonly does: "dd"; readonly pages: readonly number[] }
  | { readonly does: "remove" | "checkpoint" | "keep a copy" | "restart" | "look" }
  | { readonly does: "touch" | "chmod" | "same content" | "cp" | "cp -p" | "truncate" };

const steps = fc.array(
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record<Step & { does: "write" }>({
        does: fc.constant("write"),
        notes: fc.integer({ min: 1, max: 5 }),
        bytes: fc.integer({ min: 1, max: 30_000 }),
      }),
    },
    {
      weight: 9,
      arbitrary: fc.constantFrom<Step[]>(
        ...(["remove", "checkpoint", "checkpoint", "keep a copy", "restart", "look"] as const).map((does) => ({
          does,
        })),
      ),
    },
    {
      weight: 4,
      arbitrary: fc.constantFrom<Step[]>(
        ...(["touch", "chmod", "same content", "cp", "cp -p", "truncate"] as const).map((does) => ({ does })),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.record<Step & { does: "dd" }>({
        does: fc.constant("dd"),
        pages: fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 3 }),
      }),
    },
  ),
  { minLength: 5, maxLength: 40 },
);

/** A file that is written to as a database does, and what it has confirmed. */
class Confirming implements Disposable {
  readonly path: string;
  readonly confirmed: string[] = [];
  #file: OpenedFile<NoteStatements>;
  #count = 0;

  constructor(path: string) {
    this.path = path;
    this.#file = openNotes(path, false);
  }

  write(notes: number, bytes: number): boolean {
    const jobs = Array.from({ length: notes }, () => adding(`${this.#count++}`, bytes));
    const outcomes = runTogether(this.#file, jobs);
    if (!this.look("written")) return false;
    for (const outcome of outcomes) if (outcome.ok) this.confirmed.push(String(outcome.value));
    return true;
  }

  remove(): boolean {
    const id = this.confirmed.shift();
    if (id !== undefined) runTogether(this.#file, [removing(id)]);
    return this.look("written");
  }

  /** Whether all is well. */
  look(which: "written" | "all"): boolean {
    const { contents } = this.#file;
    return (contents.harmToLog() ?? contents.harmToFile(which)) === undefined;
  }

  checkpoint(): void {
    carryLogOver(this.#file);
  }

  restart(): boolean {
    this.#file.close();
    try {
      this.#file = openNotes(this.path, true);
      return true;
    } catch {
      return false;
    }
  }

  ids(): readonly string[] {
    return this.#file.statements.ids();
  }

  [Symbol.dispose](): void {
    if (this.#file.db.isOpen) this.#file.close();
  }
}

/** Until a change of a file is told from the one before it by its times, which some systems count in milliseconds. */
function untilTimesMoveOn(beside: string): void {
  const changed = (): bigint => (writeFileSync(beside, ""), statSync(beside, { bigint: true }).ctimeNs);
  const before = changed();
  while (changed() === before);
}

/** Does what somebody else may do to the file. */
function disturb(path: string, step: Step): void {
  const copy = `${path}-copy`;
  const { atime, mtime } = statSync(copy);
  if (step.does === "touch") utimesSync(path, 1, 1);
  else if (step.does === "chmod") chmodSync(path, 0o640);
  else if (step.does === "same content") writeFileSync(path, readFileSync(path));
  else if (step.does === "truncate") truncateSync(path, Math.min(statSync(path).size, statSync(copy).size));
  else if (step.does === "dd") {
    const [bytes, older] = [readFileSync(path), readFileSync(copy)];
    const there = Math.min(bytes.length, older.length);
    for (const end of step.pages.map((page) => page * PAGE))
      if (end <= there) older.copy(bytes, end - PAGE, end - PAGE, end);
    writeFileSync(path, bytes);
  } else copyFileSync(copy, path);
  if (step.does === "cp -p") utimesSync(path, atime, mtime);
}

test(
  "no group is confirmed once an older copy, or a piece of it, lies in the file; nothing else stops it",
  { timeout: 240_000 },
  () => {
    fc.assert(
      fc.property(steps, (plan) => {
        using scratch = scratchFolder();
        const { path } = scratch;
        using file = new Confirming(path);
        copyFileSync(path, `${path}-copy`);
        for (const step of plan) {
          if (step.does === "write") expect(file.write(step.notes, step.bytes)).toBe(true);
          else if (step.does === "remove") expect(file.remove()).toBe(true);
          else if (step.does === "checkpoint") file.checkpoint();
          else if (step.does === "keep a copy") copyFileSync(path, `${path}-copy`);
          else if (step.does === "restart") expect(file.restart()).toBe(true);
          else if (step.does === "look") expect(file.look("all")).toBe(true);
          else {
            untilTimesMoveOn(`${path}-time`);
            const before = readFileSync(path);
            disturb(path, step);
            if (before.equals(readFileSync(path))) continue;
            // A checkpoint must not hide it.
            file.checkpoint();
            expect(file.look("written")).toBe(false);
            expect(file.restart(), "is known at the next start").toBe(false);
            return;
          }
        }
        expect(file.ids()).toEqual(file.confirmed);
      }),
      { numRuns: times(40, 150) },
    );
  },
);

test("what is written right after a checkpoint, within the resolution of the times, is known with the next look", () => {
  using scratch = scratchFolder();
  using file = new Confirming(scratch.path);
  copyFileSync(scratch.path, `${scratch.path}-copy`);
  for (let i = 0; i < 5; i++) file.write(3, 20_000);
  file.checkpoint();
  copyFileSync(`${scratch.path}-copy`, scratch.path);
  expect(file.look("all")).toBe(false);
});

test.each(["before its pages are written", "after its pages are written"])(
  "a copy that comes while a checkpoint runs is known at its end: %s",
  (when) => {
    using scratch = scratchFolder();
    const { path } = scratch;
    const file = openNotes(path);
    using _ = { [Symbol.dispose]: () => file.close() };
    copyFileSync(path, `${path}-copy`);
    for (const id of ["a", "b", "c"]) runTogether(file, [adding(id, 20_000)]);
    carryLogOver(file);
    runTogether(file, [removing("a")]);
    expect(file.contents.beginCheckpoint()).toBe(true);
    if (when.startsWith("before")) copyFileSync(`${path}-copy`, path);
    const sampling = file.contents.sampling();
    file.db.exec("PRAGMA wal_checkpoint(PASSIVE)");
    if (when.startsWith("after")) copyFileSync(`${path}-copy`, path);
    file.contents.endCheckpoint(sampling, sampling && readPieces(sampling.pieces));
    expect(file.contents.harmToFile("written")).toMatch(/written over|cut off/);
  },
);

const SMALL = 512;

interface Watched extends Disposable {
  readonly foreign: ForeignWrites;
  readonly file: number;
  /** Pages that were written since the last checkpoint, and in which frame of the log each of them is. */
  readonly pages: Map<number, number | undefined>;
  /** Changes a page of the file, or one of the log, without anybody's knowledge. */
  change(page: number): void;
  changeLog(frame: number): void;
  /** Touches the file. */
  touch(): void;
  /** Closes it. */
  close(): void;
  /** What {@link ForeignWrites.endCheckpoint} is given when all of the log is in the file. */
  ended(): void;
  /** How many pages are read meanwhile. */
  readsOf(work: () => void): number;
}

/** An open file of so many small pages, of which each one differs, and a log of as many. */
function watched(pageCount: number): Watched {
  const scratch = scratchFolder();
  const bytes = Buffer.alloc(SMALL * pageCount, 7);
  for (let page = 0; page < pageCount; page++) bytes.writeUInt32BE(page, page * SMALL + 100);
  bytes.writeUInt16BE(SMALL, 16);
  const log = `${scratch.path}-wal`;
  for (const path of [scratch.path, log]) writeFileSync(path, bytes);
  const [file, logFile] = [openSync(scratch.path, "r+"), openSync(log, "r+")];
  const flip = (handle: number, page: number): void => {
    const at = (page - 1) * SMALL + 200;
    const byte = Buffer.alloc(1);
    readSync(handle, byte, 0, 1, at);
    byte[0]! ^= 1;
    writeSync(handle, byte, 0, 1, at);
    touch();
  };
  const handles = new Set([file, logFile]);
  let seconds = 1_000;
  const touch = (): void => futimesSync(file, ++seconds, seconds);
  const pages = new Map<number, number | undefined>();
  const end = {
    pages,
    pieces: (frames: readonly number[]) => ({
      file: logFile,
      bytes: SMALL,
      at: frames.map((each) => (each - 1) * SMALL),
    }),
    forgetPages: () => pages.clear(),
  } as unknown as LogEnd;
  const foreign = new ForeignWrites(file, end);
  return {
    foreign,
    file,
    pages,
    change: (page) => flip(file, page),
    changeLog: (frame) => flip(logFile, frame),
    touch,
    close() {
      closeSync(file);
      handles.delete(file);
    },
    ended() {
      const sampling = foreign.sampling();
      foreign.endCheckpoint(sampling, readPieces(sampling.pieces));
    },
    readsOf(work) {
      using reads = watchCalls("readSync");
      work();
      return reads.calls.length;
    },
    [Symbol.dispose]() {
      for (const handle of handles) closeSync(handle);
      scratch[Symbol.dispose]();
    },
  };
}

describe("a look for what others have written", () => {
  test("at what is written reads nothing while nobody has touched the file", () => {
    using at = watched(5);
    expect(at.readsOf(() => expect(at.foreign.look("written")).toBe(false))).toBe(0);
  });

  test("at all compares what the file holds twice, as it can change within the resolution of its times", () => {
    using at = watched(5);
    const looks = Array.from({ length: 3 }, () => at.readsOf(() => expect(at.foreign.look("all")).toBe(false)));
    expect(looks).toEqual([5, 5, 0]);
    at.touch();
    const again = Array.from({ length: 4 }, () => at.readsOf(() => expect(at.foreign.look("all")).toBe(false)));
    expect(again).toEqual([5, 5, 5, 0]);
  });

  test("reads some pages of a large file, which are spread over it", () => {
    using at = watched(500);
    expect(at.readsOf(() => at.foreign.look("all"))).toBe(128);
    at.change(500 - 3);
    expect(at.foreign.look("written")).toBe(true);
  });

  test.each(["written", "all"] as const)("finds a page that was changed, for good: %s", (which) => {
    using at = watched(5);
    at.change(4);
    expect(at.foreign.look(which)).toBe(true);
    at.change(4);
    expect(at.foreign.look(which)).toBe(true);
    expect(at.foreign.beginCheckpoint()).toBe(false);
  });

  test("finds one that was changed so that its times say nothing, with a look at all", () => {
    using at = watched(5);
    at.touch();
    expect(at.foreign.look("written")).toBe(false);
    // As its times say the same, so does a look at what is written.
    const { mtimeNs } = fstatSync(at.file, { bigint: true });
    expect(mtimeNs).toBeGreaterThan(0n);
    at.change(2);
    expect(at.foreign.look("all")).toBe(true);
  });

  test.each<[string, (at: Watched) => void]>([
    ["when it was written to", (at) => at.touch()],
    ["its mode, which sets the time of its change alone", ({ file }) => fchmodSync(file, 0o640)],
  ])("compares what the file holds when anything of it has changed: %s", (_, change) => {
    using at = watched(5);
    change(at);
    expect(at.readsOf(() => expect(at.foreign.look("written")).toBe(false))).toBe(5);
    expect(at.readsOf(() => expect(at.foreign.look("written")).toBe(false))).toBe(0);
  });

  test("says nothing while this process writes to it", () => {
    using at = watched(5);
    expect(at.foreign.beginCheckpoint()).toBe(true);
    at.change(3);
    expect(at.readsOf(() => expect(at.foreign.look("all")).toBe(false))).toBe(0);
  });
});

describe("after a checkpoint", () => {
  test("pages are compared as the log has brought them in, and were never written otherwise", () => {
    using at = watched(5);
    at.pages.set(2, 2).set(3, undefined);
    at.foreign.beginCheckpoint();
    at.change(3);
    at.ended();
    expect([...at.pages]).toEqual([]);
    expect(at.readsOf(() => expect(at.foreign.look("written")).toBe(false))).toBe(0);
    at.change(3);
    expect(at.foreign.look("written")).toBe(true);
  });

  test("what to read is the latest pages with their frames, some that are spread over the file, and those that nobody wrote", () => {
    using at = watched(3);
    at.pages.set(2, 7).set(6, undefined);
    expect(at.foreign.sampling()).toEqual({
      pieces: [
        { file: at.file, bytes: SMALL, at: [1, 5, 0, 2, 3, 4].map((page) => page * SMALL) },
        expect.objectContaining({ bytes: SMALL, at: [6 * SMALL] }),
      ],
      pages: [2, 6, 1, 3, 4, 5],
      unwritten: [1, 3],
      logged: [2],
      sampled: [2, 6, 1, 3, 4, 5],
    });
  });

  test("no more than 64 of them are the latest", () => {
    using at = watched(1);
    for (let page = 1; page <= 200; page++) at.pages.set(page, page);
    const { logged, sampled, pages } = at.foreign.sampling();
    expect(logged).toEqual(Array.from({ length: 64 }, (_, each) => each + 137));
    expect(sampled.slice(0, 64)).toEqual(logged);
    // As far as the file will reach.
    expect(Math.min(...sampled)).toBe(1);
    expect(sampled.length).toBeGreaterThan(128);
    expect(pages).toEqual(sampled);
  });

  test.each<[string, (at: Watched) => void]>([
    ["a page that the log did not write", (at) => at.change(4)],
    ["a page that is not as in the log", (at) => at.change(2)],
    ["a log that is not as the page", (at) => at.changeLog(2)],
  ])("%s shows that somebody has written to the file meanwhile", (_, harm) => {
    using at = watched(5);
    at.pages.set(3, 3).set(2, 2);
    at.foreign.beginCheckpoint();
    harm(at);
    at.ended();
    expect(at.foreign.look("written")).toBe(true);
    expect(at.pages.size).toBe(2);
  });

  test("a file that was touched since it was read is compared again, but for what is still to be brought in", () => {
    using at = watched(5);
    at.pages.set(2, 2);
    at.foreign.beginCheckpoint();
    const sampling = at.foreign.sampling();
    const reading = readPieces(sampling.pieces);
    at.touch();
    at.foreign.endCheckpoint(sampling, reading);
    expect([...at.pages.keys()]).toEqual([2]);
    expect(at.readsOf(() => expect(at.foreign.look("all")).toBe(false))).toBe(4);
    at.change(2);
    expect(at.foreign.look("written")).toBe(false);
    at.change(4);
    expect(at.foreign.look("written")).toBe(true);
  });

  test.each(["nothing", "no reading"])("of which %s is known the other pages are compared, twice", (what) => {
    using at = watched(5);
    at.foreign.look("all");
    at.foreign.look("all");
    at.pages.set(1, 1);
    at.foreign.beginCheckpoint();
    at.foreign.endCheckpoint(what === "nothing" ? undefined : at.foreign.sampling());
    const looks = Array.from({ length: 3 }, () => at.readsOf(() => expect(at.foreign.look("all")).toBe(false)));
    expect(looks).toEqual([4, 4, 0]);
    expect(at.pages.size).toBe(1);
  });

  test("sixteen pages are compared twice more, the latest first; all of them when the file was touched", () => {
    using at = watched(40);
    at.pages.set(30, 30);
    at.foreign.beginCheckpoint();
    at.ended();
    const looks = Array.from({ length: 3 }, () => at.readsOf(() => expect(at.foreign.look("all")).toBe(false)));
    expect(looks).toEqual([16, 16, 0]);
    at.touch();
    expect(at.readsOf(() => at.foreign.look("written"))).toBe(40);
  });

  test("another one still goes on: only its end says what the file holds", () => {
    using at = watched(5);
    at.foreign.beginCheckpoint();
    at.foreign.beginCheckpoint();
    at.change(3);
    at.foreign.endCheckpoint();
    expect(at.foreign.look("all")).toBe(false);
    at.foreign.endCheckpoint();
    expect(at.foreign.look("all")).toBe(true);
  });

  test("a file that cannot be looked at is not taken for a sound one", () => {
    using at = watched(5);
    at.pages.set(2, 2);
    at.foreign.beginCheckpoint();
    const sampling = at.foreign.sampling();
    const reading = readPieces(sampling.pieces);
    at.close();
    at.foreign.endCheckpoint(sampling, reading);
    expect(at.pages.size).toBe(1);
  });
});
