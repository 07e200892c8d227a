import { chmodSync, linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { breakableDisk, immutable, noBreakableDisk } from "@bridge/tooling/faulty-disk";
import { describe, expect, test } from "vitest";
import { FileFault } from "../../src/database/file-fault.ts";
import { faultAt, obstacleAt } from "../../src/database/obstacle.ts";
import { scratchFolder } from "./support/notes.ts";
import { asAnybody, hideMounts, refuseUseOf, staysItself } from "./support/system-calls.ts";

function wordsAt(path: string): string | undefined {
  return obstacleAt(path)?.words;
}

describe("nothing is in the way", () => {
  test.each<[string, (path: string, folder: string) => string | void]>([
    ["of a file that is to be made", () => {}],
    ["of one below folders that are to be made", (_, folder) => join(folder, "a", "b", "notes.db")],
    [
      "of a file with what belongs beside it",
      (path) => ["", "-lock", "-mark", "-wal"].forEach((part) => writeFileSync(path + part, "")),
    ],
    [
      "of one that holds something, and so do its log and its mark",
      (path) => ["", "-mark", "-wal"].forEach((part) => writeFileSync(path + part, "x")),
    ],
    ["of a link to a file that is to be made", (path) => symlinkSync("other.db", path)],
    ["of one whose name is as long as it may be", (_, folder) => join(folder, "x".repeat(255 - "-new-journal".length))],
    [
      "of one that is there, whose name leaves room for what is beside it",
      (_, folder) => {
        const path = join(folder, "x".repeat(255 - "-lock".length));
        writeFileSync(path, "");
        return path;
      },
    ],
  ])("%s; nothing is made", (_, make) => {
    using scratch = scratchFolder();
    const path = make(scratch.path, scratch.folder) ?? scratch.path;
    const before = readdirSync(scratch.folder);
    expect(wordsAt(path)).toBeUndefined();
    expect(wordsAt(relative(".", path))).toBeUndefined();
    expect(readdirSync(scratch.folder)).toEqual(before);
  });
});

test("nothing is in the way of a file where the system does not tell what is mounted", () => {
  using scratch = scratchFolder();
  writeFileSync(scratch.path, "");
  using _ = hideMounts();
  expect(obstacleAt(scratch.path)).toBeUndefined();
});

test.skipIf(noBreakableDisk)(
  "a folder that this user may not write to is named with what to do (needs the right to mount)",
  () => {
    using disk = breakableDisk();
    const folder = join(disk.folder, "kept");
    mkdirSync(folder);
    const place = join(folder, "deep", "notes.db");
    expect(obstacleAt(place)).toBeUndefined();
    using _ = immutable([folder]);
    expect(obstacleAt(place)).toMatchObject({
      fault: "forbidden",
      words: `lies in ${JSON.stringify(folder)}, a folder that this user may not write to: let the user that the bridge runs as do that (chown, chmod), or name another path`,
    });
  },
);

test.skipIf(staysItself)("a folder on the way that this user may not look into is named (needs root)", () => {
  using scratch = scratchFolder();
  chmodSync(scratch.folder, 0o711);
  const closed = join(scratch.folder, "closed");
  mkdirSync(closed, { mode: 0o700 });
  // The system answers for who began the process.
  using _ = refuseUseOf(closed, "EACCES");
  expect(asAnybody(() => wordsAt(join(closed, "deep", "notes.db")))).toMatch(
    `lies in ${JSON.stringify(closed)}, a folder that this user may not write to: let the user`,
  );
});

test.each(["EACCES", "EPERM"] as const)("what this user may not use is named: %s", (code) => {
  using scratch = scratchFolder();
  for (const part of ["", "-mark"]) writeFileSync(scratch.path + part, "");
  {
    using _ = refuseUseOf(`${scratch.path}-mark`, code);
    expect(wordsAt(scratch.path)).toMatch(
      /^has "notes.db-mark" beside it, which this user may not read and write: let/,
    );
  }
  using _ = refuseUseOf(scratch.path, code);
  expect(wordsAt(scratch.path)).toMatch(/^is a file that this user may not read and write: let/);
});

test("a disk that is read-only is told as that, not as what this user may not do", () => {
  using scratch = scratchFolder();
  writeFileSync(scratch.path, "");
  using _ = refuseUseOf(scratch.path, "EROFS");
  expect(obstacleAt(scratch.path)).toMatchObject({ fault: "read_only" });
});

describe("what is in the way of a file is named, with what to do", () => {
  test.each<[string, (path: string, folder: string) => string | void, string, RegExp]>([
    ["a folder", (path) => mkdirSync(path), "no_place", /^is a folder: name a file, which is made when it is missing$/],
    ["what is no file", () => "/dev/null", "no_place", /^is no regular file: name a file/],
    [
      "a file instead of its folder",
      (path) => (writeFileSync(path, ""), join(path, "a", "notes.db")),
      "no_place",
      /^lies below ".*notes\.db", which is no folder: name a file/,
    ],
    [
      "a file system that keeps nothing",
      () => "/proc/notes.db",
      "no_place",
      /^lies in "\/proc", where nothing can be kept/,
    ],
    [
      "another one that keeps nothing",
      () => "/sys/deep/notes.db",
      "no_place",
      /^lies in "\/sys", where nothing can be kept/,
    ],
    [
      "a name that is too long",
      (_, folder) => join(folder, "x".repeat(255 - "-new-journal".length + 1)),
      "no_place",
      /^has a longer name than this file system takes: name a file/,
    ],
    [
      "a link that leads in a circle",
      (path) => symlinkSync("notes.db", path),
      "no_place",
      /^is a link that leads in a circle: name a file/,
    ],
    [
      "a folder in the place of its lock",
      (path) => mkdirSync(`${path}-lock`),
      "no_place",
      /^has "notes\.db-lock" beside it, which is no file/,
    ],
    [
      "a folder in the place of its mark",
      (path) => mkdirSync(`${path}-mark`),
      "no_place",
      /^has "notes\.db-mark" beside it, which is no file/,
    ],
    [
      "a folder in the place of its log",
      (path) => mkdirSync(`${path}-wal`),
      "no_place",
      /^has "notes\.db-wal" beside it, which is no file/,
    ],
    [
      "a lock that is none",
      (path) => writeFileSync(`${path}-lock`, "x"),
      "no_place",
      /^has "notes\.db-lock" beside it, which is no lock of a bridge/,
    ],
    [
      "a lock that is none, where its link leads",
      (path, folder) => {
        mkdirSync(join(folder, "far"));
        symlinkSync("far/other.db", path);
        writeFileSync(join(folder, "far", "other.db-lock"), "x");
      },
      "no_place",
      /^has "other\.db-lock" beside it, which is no lock/,
    ],
    [
      "another name of it",
      (path) => (writeFileSync(path, ""), linkSync(path, `${path}-other`)),
      "several_names",
      /^has another name, a hard link, .* delete the other name, which find -samefile tells$/,
    ],
  ])("%s", (_, make, fault, words) => {
    using scratch = scratchFolder();
    const path = make(scratch.path, scratch.folder) ?? scratch.path;
    expect(obstacleAt(path)).toMatchObject({ fault, message: `${path}: ${wordsAt(path)}` });
    expect(wordsAt(path)).toMatch(words);
  });

  test("what it cannot look at for another reason is told as it is", () => {
    expect(() => obstacleAt("a\0b")).toThrow(expect.objectContaining({ code: "ERR_INVALID_ARG_VALUE" }) as Error);
  });
});

describe("what a failed attempt to use a file says", () => {
  const vague = ["read_only", "forbidden", "failing"] as const;

  test.each(vague)("is what is in the way, when SQLite does not tell: %s", (fault) => {
    using scratch = scratchFolder();
    const thrown = new FileFault(scratch.path, fault);
    expect(faultAt(scratch.path, thrown)).toBe(thrown);
    mkdirSync(scratch.path);
    expect(faultAt(scratch.path, thrown)).toMatchObject({ fault: "no_place" });
  });

  test.each(["full", "busy", "damaged", "no_descriptors"] as const)(
    "is what it says when that is clear: %s",
    (fault) => {
      using scratch = scratchFolder();
      mkdirSync(scratch.path);
      const thrown = new FileFault(scratch.path, fault);
      expect(faultAt(scratch.path, thrown)).toBe(thrown);
    },
  );

  test("is nothing when it is about something else", () => {
    using scratch = scratchFolder();
    mkdirSync(scratch.path);
    expect(faultAt(scratch.path, new TypeError("no"))).toBeUndefined();
  });
});
