import { BridgeError } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { type Fault, FileFault, opening } from "../../src/database/file-fault.ts";
import { hidesDescriptors, leaveDescriptors, openDescriptors } from "./support/system-calls.ts";

const PATH = "notes.db";

function ofSqlite(errcode: number): Error {
  return Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode });
}

function ofSystem(code: string): Error {
  return Object.assign(new Error(`${code}: open`), { code, syscall: "open" });
}

test.each(["full", "read_only", "forbidden", "failing", "no_descriptors"] as const)(
  "%s: says what to do, and nothing of what the process does then, which may be about to end",
  (fault) => {
    const { message, words } = new FileFault(PATH, fault);
    expect(message).toBe(`notes.db: ${words}`);
    expect(words).toMatch(/: \w+ /);
    expect(words).not.toMatch(/goes on|tries again|by itself|wait/);
  },
);

test.each(["EMFILE", "ENFILE"])("%s is no fault of the disk, and says what to do", (code) => {
  expect(FileFault.of(PATH, ofSystem(code))?.message).toMatch(/no file descriptor left: allow it more \(ulimit -n/);
});

describe("what an error says about a file", () => {
  test.each<[number, Fault | undefined]>([
    [1, undefined],
    [5, "busy"],
    [6, "busy"],
    [7, "failing"],
    [8, "read_only"],
    [10, "failing"],
    [11, "damaged"],
    [13, "full"],
    [14, "failing"],
    [15, "failing"],
    [19, undefined],
    [26, "damaged"],
  ])("of SQLite with code %i: %s, wherever it happened", (errcode, fault) => {
    expect(FileFault.of(PATH, ofSqlite(errcode))?.fault).toBe(fault);
    expect(FileFault.of(PATH, ofSqlite(errcode + 0x3_00))?.fault).toBe(fault);
  });

  test.each<[string, Fault]>([
    ["ENOSPC", "full"],
    ["EDQUOT", "full"],
    ["EROFS", "read_only"],
    ["EACCES", "forbidden"],
    ["EPERM", "forbidden"],
    ["EMFILE", "no_descriptors"],
    ["ENFILE", "no_descriptors"],
    ...["ENOENT", "ENOTDIR", "EISDIR", "ELOOP", "ENAMETOOLONG", "EINVAL", "ENXIO"].map((code): [string, Fault] => [
      code,
      "no_place",
    ]),
    ["EIO", "failing"],
    ["ESTALE", "failing"],
  ])("of the system, %s: %s", (code, fault) => {
    const thrown = ofSystem(code);
    expect(FileFault.of(PATH, thrown)).toMatchObject({ fault, code: "UNAVAILABLE", charged: false, cause: thrown });
  });

  test.each([
    ["a mistake of this program", new TypeError("no")],
    ["what Node says of an argument", Object.assign(new Error("no"), { code: "ERR_INVALID_ARG_TYPE" })],
    ["a code that is no word", Object.assign(new Error("no"), { code: 7, syscall: "open" })],
    ["no error at all", "ENOSPC"],
    ["nothing", undefined],
  ])("%s says nothing", (_, thrown) => expect(FileFault.of(PATH, thrown)).toBeUndefined());

  test("what was told once stays as it was told", () => {
    const fault = new FileFault("other.db", "full");
    expect(FileFault.of(PATH, fault)).toBe(fault);
  });

  test.skipIf(hidesDescriptors).each<[number, string, Fault]>([
    [0, "EMFILE", "no_descriptors"],
    [0, "ENFILE", "no_descriptors"],
    [7, "EMFILE", "no_descriptors"],
    [8, "EMFILE", "failing"],
    [0, "EIO", "failing"],
    [0, "", "failing"],
  ])(
    "of SQLite, that it could not open a file, while %i descriptors are left and the system says %s then: %s",
    (left, code, fault) => {
      const before = openDescriptors();
      using _ = leaveDescriptors(left, code);
      expect(FileFault.of(PATH, ofSqlite(14 + 0x3_00))?.fault).toBe(fault);
      expect(openDescriptors()).toBe(before);
    },
  );

  test("of SQLite, of anything else: has nothing to do with descriptors", () => {
    using _ = leaveDescriptors(0);
    expect(FileFault.of(PATH, ofSqlite(10))?.fault).toBe("failing");
    expect(FileFault.of(PATH, ofSqlite(1))?.fault).toBeUndefined();
  });
});

test("the words end with what was thrown, and with the code of SQLite; words that are given stand alone", () => {
  const words = "the disk is full: make room";
  expect(new FileFault(PATH, "full").words).toBe(words);
  expect(new FileFault(PATH, "full", { cause: "no error" }).words).toBe(words);
  expect(new FileFault(PATH, "full", { cause: ofSystem("ENOSPC") }).words).toBe(`${words} (ENOSPC: open)`);
  expect(new FileFault(PATH, "full", { cause: ofSqlite(13) }).words).toBe(`${words} (disk I/O error, SQLite 13)`);
  expect(new FileFault(PATH, "full", { cause: ofSqlite(13), words: "look" }).message).toBe("notes.db: look");
});

describe("a file that cannot be opened", () => {
  function refusal(thrown: unknown): unknown {
    try {
      return opening(PATH, () => {
        throw thrown;
      });
    } catch (error) {
      return error;
    }
  }

  test.each(["full", "read_only", "failing", "no_descriptors"] as const)(
    "%s: is worth another try in a second",
    (fault) => {
      const cause = ofSystem("EIO");
      const { words } = new FileFault(PATH, fault, { cause });
      expect(refusal(new FileFault(PATH, fault, { cause }))).toMatchObject({
        fault,
        cause,
        words,
        retryAfterMs: 1_000,
      });
    },
  );

  test.each(["forbidden", "busy", "damaged", "displaced", "disturbed", "no_place", "several_names"] as const)(
    "%s: waits for somebody",
    (fault) => {
      const thrown = new FileFault(PATH, fault);
      expect(refusal(thrown)).toBe(thrown);
      expect(thrown.retryAfterMs).toBeUndefined();
    },
  );

  test("what is not about the file is thrown as it is", () => {
    const thrown = Object.assign(new BridgeError("UNAVAILABLE", "in use"), { passes: true });
    expect(refusal(thrown)).toBe(thrown);
  });

  test("what was opened is given back", () => expect(opening(PATH, () => 7)).toBe(7));
});
