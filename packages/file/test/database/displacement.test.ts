import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type LogFields, type Logger, silentLogger, systemClock } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { Displacement } from "../../src/database/displacement.ts";
import { readMark } from "../../src/database/log-mark.ts";
import type { OpenedFile } from "../../src/database/open-or-create.ts";
import { RecoveringFile } from "../../src/database/recovering-file.ts";
import { confirm, NOTES, type NoteStatements, prepareNotes, scratchFolder } from "./support/notes.ts";
import { asAnybody, staysItself } from "./support/system-calls.ts";

const GONE = /was deleted, moved away or replaced while it is in use: nothing new is taken. Put it back, or let/;
const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const ASIDE = ".damaged-20260102T030405000Z";

interface Looked extends Disposable {
  readonly path: string;
  readonly opened: OpenedFile<NoteStatements>;
  readonly displacement: Displacement<NoteStatements>;
  readonly file: RecoveringFile<NoteStatements>;
  /** What was logged, with its level. */
  readonly lines: string[];
}

/** An open file with a note in its log, and what looks where it is. */
function looked(): Looked {
  const scratch = scratchFolder();
  const lines: string[] = [];
  const tell = (level: string, line: string, fields: LogFields = {}): void =>
    void lines.push(`${level}: ${line}${fields["file"] === scratch.path ? "" : " (of another file)"}`);
  const logger: Logger = {
    ...silentLogger,
    warn: (line, fields) => tell("warn", line, fields),
    error: (line, fields) => tell("error", line, fields),
  };
  const clock = { ...systemClock, now: () => AT };
  const options = { kind: NOTES, onDamage: "refuse", prepare: prepareNotes, clock, logger } as const;
  writeFileSync(`${scratch.path}-lock`, "");
  const file = new RecoveringFile(scratch.path, options, async () => {});
  const opened = file.open();
  confirm(opened, "a");
  return {
    path: scratch.path,
    opened,
    file,
    lines,
    displacement: new Displacement(file, { clock, logger }),
    [Symbol.dispose]() {
      file.close();
      scratch[Symbol.dispose]();
    },
  };
}

/** What is in the file at `path`, by itself. */
function idsIn(path: string): readonly string[] {
  using db = new DatabaseSync(path, { readOnly: true });
  return prepareNotes(db).ids();
}

function moveAway(path: string): void {
  renameSync(path, `${path}-elsewhere`);
}

function putBack(path: string): void {
  renameSync(`${path}-elsewhere`, path);
}

describe("a file in its place", () => {
  test.each(["written", "all"] as const)("says nothing to a look at %s", (which) => {
    using at = looked();
    expect(at.displacement.of(at.opened, which)).toBeUndefined();
    expect(at.displacement.found).toBeUndefined();
    expect(at.displacement.unharmed()).toBe(at.opened);
    expect(at.lines).toEqual([]);
  });

  test.each(["written", "all"] as const)(
    "whose log was deleted has to be opened again, after a look at %s",
    (which) => {
      using at = looked();
      rmSync(`${at.path}-wal`);
      expect(at.displacement.of(at.opened, which)).toMatchObject({ fault: "disturbed" });
      expect(at.displacement.found).toBeUndefined();
    },
  );

  test.each(["written", "all"] as const)("whose log was cut off is damaged, after a look at %s", (which) => {
    using at = looked();
    truncateSync(`${at.path}-wal`, 100);
    expect(at.displacement.of(at.opened, which)).toMatchObject({
      fault: "damaged",
      message: expect.stringContaining("its log was cut off") as string,
    });
  });

  test("that was written over is damaged, too, and nothing is written to it", () => {
    using at = looked();
    writeFileSync(at.path, Buffer.alloc(statSync(at.path).size));
    const harm = { fault: "damaged", message: expect.stringContaining("written over") as string };
    expect(at.displacement.of(at.opened, "all")).toMatchObject(harm);
    expect(() => at.displacement.unharmed()).toThrow("it was written over while it is in use");
  });
});

describe("a file that is gone from its place", () => {
  test.each<[string, (path: string) => void, "written" | "all"]>([
    ["deleted", (path) => rmSync(path), "written"],
    ["moved away", moveAway, "written"],
    ["replaced", (path) => (moveAway(path), copyFileSync(`${path}-elsewhere`, path)), "written"],
    ["left without its lock", (path) => rmSync(`${path}-lock`), "all"],
  ])("takes nothing new: %s; which is told once", (_, harm, which) => {
    using at = looked();
    harm(at.path);
    const refusal = at.displacement.of(at.opened, which);
    expect(refusal).toMatchObject({
      code: "UNAVAILABLE",
      charged: false,
      message: expect.stringMatching(GONE) as string,
    });
    expect(at.displacement.found).toBe(refusal);
    expect(at.displacement.of(at.opened, which)).toBe(refusal);
    expect(at.lines).toEqual([
      expect.stringMatching(/^error: the file is not in its place any more.* with this process$/),
    ]);
  });

  test("without its lock alone is not missed by a look at what is written, and keeps its log and mark", () => {
    using at = looked();
    rmSync(`${at.path}-lock`);
    expect(at.displacement.of(at.opened, "written")).toBeUndefined();
    expect(at.displacement.of(at.opened, "all")).toBeDefined();
    // Only a look at all of it finds that all of it is there.
    expect(at.displacement.of(at.opened, "written")).toBe(at.displacement.found);
    expect(existsSync(`${at.path}-wal`)).toBe(true);
    expect(readMark(at.path)?.frame).toBe(at.opened.logEnd.frame);
  });

  test("has its log set aside, with no mark for what takes its place, and holds all of it itself", () => {
    using at = looked();
    moveAway(at.path);
    at.displacement.of(at.opened, "written");
    expect(existsSync(`${at.path}-wal`)).toBe(false);
    expect(existsSync(`${at.path}${ASIDE}-wal`)).toBe(true);
    expect(readMark(at.path)).toBeUndefined();
    expect(idsIn(`${at.path}-elsewhere`)).toEqual(["a"]);
    expect(at.file.damaged.unacknowledged).toEqual([`${at.path}${ASIDE}`]);
  });

  test("has what is still written to its log brought into it, too, when that is asked for", () => {
    using at = looked();
    moveAway(at.path);
    at.displacement.of(at.opened, "written");
    confirm(at.opened, "b");
    at.displacement.carryLogOver();
    expect(idsIn(`${at.path}-elsewhere`)).toEqual(["a", "b"]);
    expect(at.lines).toHaveLength(1);
  });

  test("whose log somebody else has replaced leaves that alone", () => {
    using at = looked();
    moveAway(at.path);
    renameSync(`${at.path}-wal`, `${at.path}-wal-elsewhere`);
    writeFileSync(`${at.path}-wal`, "other");
    at.displacement.of(at.opened, "written");
    expect(existsSync(`${at.path}-wal`)).toBe(true);
    expect(existsSync(`${at.path}${ASIDE}-wal`)).toBe(false);
    expect(at.lines).toHaveLength(1);
  });

  test("whose log cannot be set aside says so, and takes nothing new all the same", () => {
    using at = looked();
    moveAway(at.path);
    mkdirSync(`${at.path}${ASIDE}-wal`);
    expect(at.displacement.of(at.opened, "written")?.message).toMatch(GONE);
    expect(at.lines).toEqual([
      expect.any(String),
      expect.stringMatching(/^warn: the log .* was not set aside: delete it/),
    ]);
  });

  test("whose log cannot be brought into it says so", () => {
    using at = looked();
    moveAway(at.path);
    at.displacement.of(at.opened, "written");
    at.opened.db.close();
    at.displacement.carryLogOver();
    expect(at.lines[1]).toMatch(/^warn: what the log of the file that is gone holds was not brought into the file/);
  });

  test("in its place nothing is brought anywhere", () => {
    using at = looked();
    at.displacement.carryLogOver();
    expect(idsIn(at.path)).toEqual(["a"]);
    expect(at.opened.contents.sampling()?.pages.length).toBeGreaterThan(0);
    expect(at.opened.logEnd.pages.size).toBeGreaterThan(0);
  });
});

describe.skipIf(staysItself)("a file whose folder this user may not look into any more (needs root)", () => {
  test("takes nothing new, which is told once, and is left as it is", () => {
    using at = looked();
    const seen = asAnybody(() => [
      at.displacement.of(at.opened, "written"),
      at.displacement.of(at.opened, "all"),
      at.displacement.found,
    ]);
    expect(seen[0]).toMatchObject({
      code: "UNAVAILABLE",
      charged: false,
      message: expect.stringMatching(/this user may not use it.*EACCES/) as string,
    });
    expect(seen.every((each) => each === seen[0])).toBe(true);
    expect(at.lines).toEqual([expect.stringMatching(/^error: the file cannot be looked at/)]);
    expect([existsSync(`${at.path}-wal`), readMark(at.path)?.frame]).toEqual([true, at.opened.logEnd.frame]);
  });

  test("goes on when this user may again", () => {
    using at = looked();
    asAnybody(() => at.displacement.of(at.opened, "all"));
    expect(at.displacement.of(at.opened, "all")).toBeUndefined();
    expect(at.lines.slice(1)).toEqual(["warn: the file is back in its place"]);
  });

  test("and which is gone when one may look again, is left as any that is gone", () => {
    using at = looked();
    asAnybody(() => at.displacement.of(at.opened, "all"));
    for (const _ of ["once", "and again"]) {
      moveAway(at.path);
      expect(at.displacement.of(at.opened, "all")?.message).toMatch(GONE);
      expect(existsSync(`${at.path}-wal`)).toBe(false);
      putBack(at.path);
      expect(at.displacement.of(at.opened, "all")).toBeUndefined();
      asAnybody(() => at.displacement.of(at.opened, "all"));
    }
  });
});

describe("a file that is put back", () => {
  function gone(): Looked {
    const at = looked();
    moveAway(at.path);
    at.displacement.of(at.opened, "written");
    return at;
  }

  test("is known to be there by a look at all of it only, and has its log and mark again", () => {
    using at = gone();
    putBack(at.path);
    expect(at.displacement.of(at.opened, "written")).toBe(at.displacement.found);
    expect(existsSync(`${at.path}${ASIDE}-wal`)).toBe(true);
    expect(at.displacement.of(at.opened, "all")).toBeUndefined();
    expect(at.displacement.found).toBeUndefined();
    expect(at.lines.slice(1)).toEqual(["warn: the file is back in its place"]);
    expect(existsSync(`${at.path}${ASIDE}-wal`)).toBe(false);
    expect(readMark(at.path)).toEqual({ frame: at.opened.logEnd.frame, salts: at.opened.logEnd.header?.salts });
    expect(at.file.damaged.unacknowledged).toEqual([]);
    confirm(at.opened, "b");
    expect(at.opened.statements.ids()).toEqual(["a", "b"]);
  });

  test("can be gone again, which is told again", () => {
    using at = gone();
    putBack(at.path);
    at.displacement.of(at.opened, "all");
    moveAway(at.path);
    expect(at.displacement.of(at.opened, "all")?.message).toMatch(GONE);
    // What has been told of it stays so.
    expect(at.displacement.of(at.opened, "all")).toBe(at.displacement.found);
    expect(at.lines.filter((line) => line.includes("not in its place any more"))).toHaveLength(2);
    expect(existsSync(`${at.path}${ASIDE}-wal`)).toBe(true);
  });

  test("while another one is in its place, its log stays set aside", () => {
    using at = gone();
    copyFileSync(`${at.path}-elsewhere`, at.path);
    expect(at.displacement.of(at.opened, "all")?.message).toMatch(GONE);
    expect(existsSync(`${at.path}-wal`)).toBe(false);
    expect(existsSync(`${at.path}${ASIDE}-wal`)).toBe(true);
  });

  test("does not get another log for its own: one that was put where its own was set aside", () => {
    using at = gone();
    rmSync(`${at.path}${ASIDE}-wal`);
    writeFileSync(`${at.path}${ASIDE}-wal`, "other");
    putBack(at.path);
    expect(at.displacement.of(at.opened, "all")).toMatchObject({ fault: "disturbed" });
    expect(existsSync(`${at.path}-wal`)).toBe(false);
  });

  test.skipIf(staysItself)("whose log cannot be put back says so, and is opened again (needs root)", () => {
    using at = gone();
    putBack(at.path);
    chmodSync(dirname(at.path), 0o755);
    expect(asAnybody(() => at.displacement.of(at.opened, "all"))).toMatchObject({ fault: "disturbed" });
    expect(at.lines[1]).toMatch(/^warn: the log of the file that is back was not put back/);
    expect(existsSync(`${at.path}${ASIDE}-wal`)).toBe(true);
  });

  test("finds another log in its place: that stays, no mark is held against it, and the file is opened again", () => {
    using at = gone();
    writeFileSync(`${at.path}-wal`, "other");
    putBack(at.path);
    expect(at.displacement.of(at.opened, "all")).toMatchObject({ fault: "disturbed" });
    expect(existsSync(`${at.path}${ASIDE}-wal`)).toBe(true);
    expect(readMark(at.path)).toBeUndefined();
  });
});
