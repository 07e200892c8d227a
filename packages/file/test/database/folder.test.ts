import { isMainThread } from "node:worker_threads";
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { makeFolder, syncFolder } from "../../src/database/folder.ts";
import { scratchFolder } from "./support/notes.ts";
import { hidesDescriptors, openDescriptors, watchSyncs } from "./support/system-calls.ts";

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

describe("the folder of a file", () => {
  // A thread has no umask of its own.
  test.skipIf(!isMainThread)(
    "is made with all that is missing above it, each for its owner only whatever the umask says; the file is not",
    () => {
      using scratch = scratchFolder();
      const path = join(scratch.folder, "a", "b", "notes.db");
      const beside = readdirSync(".");
      const former = process.umask(0o277);
      try {
        makeFolder(path);
      } finally {
        process.umask(former);
      }
      expect(["a", "a/b"].map((each) => modeOf(join(scratch.folder, each)))).toEqual([0o700, 0o700]);
      expect(existsSync(path)).toBe(false);
      expect(readdirSync(".")).toEqual(beside);
    },
  );

  test("is left as it is when it is there", () => {
    using scratch = scratchFolder();
    const folder = join(scratch.folder, "store");
    mkdirSync(folder, { mode: 0o755 });
    makeFolder(join(folder, "notes.db"));
    expect(modeOf(folder)).toBe(0o755);
  });

  test("that is a link to nothing is left to whoever opens the file", () => {
    using scratch = scratchFolder();
    const link = join(scratch.folder, "link");
    symlinkSync(join(scratch.folder, "nothing"), link);
    makeFolder(join(link, "notes.db"));
    expect(readdirSync(scratch.folder)).toEqual(["link"]);
  });

  test.each<[string, (scratch: string) => string]>([
    ["below a file", (folder) => (writeFileSync(join(folder, "file"), ""), join(folder, "file", "deep", "notes.db"))],
    ["where the system lets nobody make any", () => "/proc/bridge-test/deep/notes.db"],
  ])("cannot be made %s, which is thrown", (_, pathIn) => {
    using scratch = scratchFolder();
    expect(() => makeFolder(pathIn(scratch.folder))).toThrow(/ENOTDIR|ENOENT|EACCES/);
  });

  test.skipIf(hidesDescriptors)("has its names made durable, and says when it cannot be opened", () => {
    using scratch = scratchFolder();
    const before = openDescriptors();
    using synced = watchSyncs();
    syncFolder(scratch.path);
    expect(synced.names).toEqual([basename(scratch.folder)]);
    expect(openDescriptors()).toBe(before);
    expect(() => syncFolder(join(scratch.folder, "gone", "notes.db"))).toThrow("ENOENT");
  });
});
