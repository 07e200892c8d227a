import { DatabaseSync } from "node:sqlite";
import { BridgeError } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { FileFault } from "../../src/database/file-fault.ts";
import type { LogEnd } from "../../src/database/log-end.ts";
import { type Job, type OpenFile, runFreeing, runTogether } from "../../src/database/transaction.ts";
import { adding, type NoteStatements, openNotes, prepareNotes, removing, scratchFolder } from "./support/notes.ts";

type File = OpenFile<NoteStatements>;
type NoteJob = Job<NoteStatements, unknown>;

function opened(): Disposable & { readonly file: File } {
  const scratch = scratchFolder();
  const file = openNotes(scratch.path);
  return {
    file,
    [Symbol.dispose]() {
      file.close();
      scratch[Symbol.dispose]();
    },
  };
}

/** Writes a note and then throws. */
function failing(thrown: unknown, frees = false): NoteJob {
  return {
    frees,
    bytes: 1,
    run(statements) {
      statements.add("left over", new Uint8Array());
      throw thrown;
    },
  };
}

const full = (): FileFault => new FileFault("notes.db", "full");

describe("jobs that run together", () => {
  test("are all done, in their order, in one commit that the log is followed by", () => {
    using at = opened();
    const { file } = at;
    const { frame } = file.logEnd;
    expect(runTogether(file, [adding("a"), removing("a"), adding("b")])).toEqual([
      { ok: true, value: "a" },
      { ok: true, value: undefined },
      { ok: true, value: "b" },
    ]);
    expect(file.statements.ids()).toEqual(["b"]);
    expect(file.logEnd.frame).toBeGreaterThan(frame);
  });

  test.each([
    ["an error", new BridgeError("REJECTED", "no"), "no"],
    ["what is no error", "no", "no"],
  ])("of which one throws %s: that one alone is not done, nor anything of it", (_, thrown, message) => {
    using at = opened();
    const outcomes = runTogether(at.file, [adding("a"), failing(thrown), adding("b")]);
    expect(outcomes).toMatchObject([
      { ok: true, value: "a" },
      { ok: false, error: { message } },
      { ok: true, value: "b" },
    ]);
    expect(at.file.statements.ids()).toEqual(["a", "b"]);
    expect(at.file.db.isTransaction).toBe(false);
  });

  test.each(["damaged", "failing", "busy"] as const)("are none of them done when the file is at fault: %s", (kind) => {
    using at = opened();
    const fault = new FileFault("notes.db", kind);
    expect(() => runTogether(at.file, [adding("a"), removing("b"), failing(fault)])).toThrow(fault);
    expect(at.file.statements.ids()).toEqual([]);
    expect(at.file.db.isTransaction).toBe(false);
  });

  test("are none of them done when the file shows its fault only when one of them has failed by itself", () => {
    using at = opened();
    const fault = new FileFault("notes.db", "damaged");
    const twice = [new TypeError("no"), fault];
    const job: NoteJob = {
      frees: false,
      bytes: 1,
      run() {
        throw twice.shift() ?? new Error("run too often");
      },
    };
    expect(() => runTogether(at.file, [adding("a"), job])).toThrow(fault);
    expect(at.file.statements.ids()).toEqual([]);
  });

  test("but make room are done when the file is full; the others are told so", () => {
    using at = opened();
    runTogether(at.file, [adding("old")]);
    const fault = full();
    const outcomes = runTogether(at.file, [failing(fault), removing("old"), adding("new")]);
    expect(outcomes).toEqual([
      { ok: false, error: fault },
      { ok: true, value: undefined },
      { ok: false, error: fault },
    ]);
    expect(at.file.statements.ids()).toEqual([]);
  });

  test.each([true, false])("are refused when the file is full for all of them, which make room: %s", (frees) => {
    using at = opened();
    const fault = full();
    expect(() => runTogether(at.file, [failing(fault, frees), { ...adding("a"), frees }])).toThrow(fault);
    expect(at.file.statements.ids()).toEqual([]);
  });

  test("tell the end of the log of a commit that has failed", () => {
    using scratch = scratchFolder();
    const told: string[] = [];
    using db = new DatabaseSync(":memory:");
    db.exec("CREATE TABLE note (id TEXT PRIMARY KEY, bytes BLOB NOT NULL); PRAGMA foreign_keys = ON");
    db.exec("CREATE TABLE late (id TEXT REFERENCES note (id) DEFERRABLE INITIALLY DEFERRED)");
    const logEnd = {
      follow: () => void told.push("followed"),
      commitFailed: () => void told.push("failed"),
    } as unknown as LogEnd;
    const file: File = { db, path: scratch.path, statements: prepareNotes(db), logEnd };
    runTogether(file, [adding("a")]);
    expect(told).toEqual(["followed"]);
    const job: NoteJob = { frees: false, bytes: 1, run: () => db.exec("INSERT INTO late VALUES ('none')") };
    expect(() => runTogether(file, [job])).toThrow("FOREIGN KEY");
    // Together, and then one by one.
    expect(told).toEqual(["followed", "failed", "failed"]);
    expect(db.isTransaction).toBe(false);
  });
});

describe("jobs of which only those may run that make room", () => {
  const refusal = new BridgeError("UNAVAILABLE", "no room");

  test("have their outcomes in their order", () => {
    using at = opened();
    runTogether(at.file, [adding("a"), adding("b")]);
    expect(runFreeing(at.file, [adding("c"), removing("a"), adding("d"), removing("b")], refusal)).toEqual([
      { ok: false, error: refusal },
      { ok: true, value: undefined },
      { ok: false, error: refusal },
      { ok: true, value: undefined },
    ]);
    expect(at.file.statements.ids()).toEqual([]);
  });

  test("leave the file alone when there are none", () => {
    using at = opened();
    const closed = { ...at.file, db: undefined as never };
    expect(runFreeing(closed, [adding("a")], refusal)).toEqual([{ ok: false, error: refusal }]);
    expect(runFreeing(closed, [], refusal)).toEqual([]);
  });
});
