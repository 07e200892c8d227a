import { times } from "@bridge/tooling/long";
import { chmodSync, copyFileSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { carryLogOver } from "../../src/database/connection.ts";
import { readPieces } from "../../src/database/digests.ts";
import type { OpenedFile } from "../../src/database/open-or-create.ts";
import { runTogether } from "../../src/database/transaction.ts";
import { adding, type NoteStatements, openNotes, removing, scratchFolder } from "./support/notes.ts";

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
