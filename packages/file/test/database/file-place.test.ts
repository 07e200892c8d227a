import { copyFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { FilePlace } from "../../src/database/file-place.ts";
import { scratchFolder } from "./support/notes.ts";
import { asAnybody, staysItself } from "./support/system-calls.ts";

/** Files as they are while one is in use. */
function inUse(path: string): FilePlace {
  for (const part of ["", "-lock", "-wal"]) writeFileSync(path + part, part);
  return new FilePlace(path);
}

function replace(path: string): void {
  copyFileSync(path, `${path}-copy`);
  renameSync(`${path}-copy`, path);
}

describe("the place of an open file", () => {
  test.each(["written", "all"] as const)(
    "has all of it when nobody has touched it, or only written to it: %s",
    (which) => {
      using scratch = scratchFolder();
      const place = inUse(scratch.path);
      writeFileSync(scratch.path, "more");
      expect(place.displaced(which)).toBeUndefined();
      expect(["", "-lock", "-wal"].map((part) => place.has(part))).toEqual([true, true, true]);
    },
  );

  test.each([
    ["", "file", "file"],
    ["-wal", "log", "log"],
    ["-lock", undefined, "file"],
  ] as const)("lacks a part that was deleted or replaced: %j", (part, written, all) => {
    for (const harm of [rmSync, replace]) {
      using scratch = scratchFolder();
      const place = inUse(scratch.path);
      harm(scratch.path + part);
      expect([place.displaced("written"), place.displaced("all")]).toEqual([written, all]);
      expect(["", "-lock", "-wal"].filter((each) => !place.has(each))).toEqual([part]);
    }
  });

  test("lacks the file rather than its log when both are gone", () => {
    using scratch = scratchFolder();
    const place = inUse(scratch.path);
    for (const part of ["-wal", ""]) rmSync(scratch.path + part);
    expect(place.displaced("written")).toBe("file");
  });

  test("of a part may be another one, which is asked for", () => {
    using scratch = scratchFolder();
    const place = inUse(scratch.path);
    renameSync(`${scratch.path}-wal`, join(scratch.folder, "aside"));
    expect([place.has("-wal"), place.has("-wal", join(scratch.folder, "aside"))]).toEqual([false, true]);
    expect(place.has("", join(scratch.folder, "aside"))).toBe(false);
  });

  test("never has what was not there when the file was opened", () => {
    using scratch = scratchFolder();
    const place = new FilePlace(scratch.path);
    writeFileSync(scratch.path, "");
    expect([place.has(""), place.displaced("written")]).toEqual([false, "file"]);
  });

  test("lacks the file when there is something else that nobody can look at, as a link that leads in a circle", () => {
    using scratch = scratchFolder();
    const place = inUse(scratch.path);
    rmSync(scratch.path);
    symlinkSync(scratch.path, scratch.path);
    expect(place.displaced("all")).toBe("file");
  });

  test.skipIf(staysItself)("is hidden from a user who may not look into the folder (needs root)", () => {
    using scratch = scratchFolder();
    const place = inUse(scratch.path);
    const seen = asAnybody(() => [place.displaced("written"), place.displaced("all"), place.has("")]);
    expect(seen).toEqual(["hidden", "hidden", false]);
    expect(place.displaced("all")).toBeUndefined();
  });
});
