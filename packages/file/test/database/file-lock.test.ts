import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { lockFile, tryLockFile } from "../../src/database/file-lock.ts";
import { scratchFolder } from "./support/notes.ts";
import { asAnybody, hidesDescriptors, openDescriptors, staysItself } from "./support/system-calls.ts";

describe("the lock of a file", () => {
  test.skipIf(hidesDescriptors)(
    "is one holder's at a time, and the next one's when that gives it back; nothing stays open",
    () => {
      using scratch = scratchFolder();
      const before = openDescriptors();
      const lock = lockFile(scratch.path);
      const refused = {
        code: "UNAVAILABLE",
        charged: false,
        message: expect.stringContaining(`${scratch.path} is in use: only one process at a time may open it`) as string,
      };
      expect(() => lockFile(scratch.path)).toThrow(expect.objectContaining(refused) as Error);
      expect(tryLockFile(scratch.path)).toBeUndefined();
      lock[Symbol.dispose]();
      const next = tryLockFile(scratch.path);
      expect(next).toBeDefined();
      next?.[Symbol.dispose]();
      expect(openDescriptors()).toBe(before);
    },
  );

  test("is a file beside it, for its owner only, that stays empty", () => {
    using scratch = scratchFolder();
    using _ = lockFile(scratch.path);
    expect(statSync(`${scratch.path}-lock`).mode & 0o777).toBe(0o600);
    expect(readFileSync(`${scratch.path}-lock`)).toHaveLength(0);
    expect(existsSync(scratch.path)).toBe(false);
    expect(existsSync(`${scratch.path}-lock-journal`)).toBe(false);
  });

  test("that is there already is taken as it is", () => {
    using scratch = scratchFolder();
    writeFileSync(`${scratch.path}-lock`, "");
    chmodSync(`${scratch.path}-lock`, 0o640);
    using lock = tryLockFile(scratch.path);
    expect(lock).toBeDefined();
    expect(statSync(`${scratch.path}-lock`).mode & 0o777).toBe(0o640);
  });

  test("cannot be taken where no file can be: the lock is named", () => {
    using scratch = scratchFolder();
    const nowhere = `${scratch.path}/missing`;
    writeFileSync(scratch.path, "");
    const refused = { fault: "no_place", message: expect.stringContaining(`${nowhere}-lock: `) as string };
    expect(() => tryLockFile(nowhere)).toThrow(expect.objectContaining(refused) as Error);
  });

  test("that is a link to nothing is no place for one, nor is a name that no file can have", () => {
    using scratch = scratchFolder();
    symlinkSync("nothing", `${scratch.path}-lock`);
    expect(() => tryLockFile(scratch.path)).toThrow(expect.objectContaining({ fault: "no_place" }) as Error);
    expect(() => tryLockFile("a\0b")).toThrow(expect.objectContaining({ code: "ERR_INVALID_ARG_VALUE" }) as Error);
  });

  test.skipIf(staysItself)("cannot be made by a user who may not write to its folder (needs root)", () => {
    using scratch = scratchFolder();
    chmodSync(scratch.folder, 0o755);
    const forbidden = expect.objectContaining({ fault: "forbidden" }) as Error;
    asAnybody(() => expect(() => tryLockFile(scratch.path)).toThrow(forbidden));
  });

  test("that is no lock is not taken for one that somebody holds", () => {
    using scratch = scratchFolder();
    writeFileSync(`${scratch.path}-lock`, "x".repeat(5_000));
    expect(() => tryLockFile(scratch.path)).toThrow(expect.objectContaining({ fault: "damaged" }) as Error);
    using other = scratchFolder();
    mkdirSync(`${other.path}-lock`);
    const named = expect.stringContaining(`${other.path}-lock is no file`) as string;
    expect(() => lockFile(other.path)).toThrow(
      expect.objectContaining({ code: "UNAVAILABLE", message: named }) as Error,
    );
  });
});
