import { existsSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { LogEnd } from "../../src/database/log-end.ts";
import { canFollow, clearMark, isSpoiled, LogMark, readMark, wasWritten } from "../../src/database/log-mark.ts";
import { confirm, openNotes, scratchFolder } from "./support/notes.ts";
import { hidesDescriptors, openDescriptors, watchSyncs } from "./support/system-calls.ts";

/** The end of a log that has got so far. */
function endAt(frame: number, salts: readonly [number, number] = [1, 2]): LogEnd {
  return { frame, header: { salts } } as unknown as LogEnd;
}

describe("the mark of a file", () => {
  test("says after a kill how far the log was durable", () => {
    using scratch = scratchFolder();
    const file = openNotes(scratch.path);
    confirm(file, "a");
    confirm(file, "b");
    const { frame, header } = file.logEnd;
    expect(frame).toBeGreaterThan(0);
    expect(readMark(scratch.path)).toEqual({ frame, salts: header?.salts });
    file.close();
  });

  test("is not set while nothing has been written to the log", () => {
    using scratch = scratchFolder();
    const mark = new LogMark(scratch.path);
    mark.set({ frame: 3, header: undefined } as LogEnd);
    mark.set(endAt(0));
    expect(wasWritten(scratch.path)).toBe(false);
    mark.set(endAt(1, [0xff_ff_ff_ff, 7]));
    expect(readMark(scratch.path)).toEqual({ frame: 1, salts: [0xff_ff_ff_ff, 7] });
    mark.close();
  });

  test("of a file that was closed says so, and holds nothing against a log but that it is of another time", () => {
    using scratch = scratchFolder();
    const mark = new LogMark(scratch.path);
    mark.set(endAt(5));
    mark.setClosed();
    expect(readMark(scratch.path)).toEqual({ frame: 0, salts: [0, 0] });
    expect(isSpoiled(readMark(scratch.path))).toBe(false);
    mark.close();
  });

  test("of a file that somebody has written to says so, whatever it said before", () => {
    using scratch = scratchFolder();
    const mark = new LogMark(scratch.path);
    mark.set(endAt(5));
    mark.setSpoiled();
    expect(readMark(scratch.path)).toEqual({ frame: 0xff_ff_ff_ff, salts: [0, 0] });
    expect(isSpoiled(readMark(scratch.path))).toBe(true);
    expect(isSpoiled(undefined)).toBe(false);
    mark.close();
  });

  test("that is cleared holds nothing against any log, keeps its room, and can be set again", () => {
    using scratch = scratchFolder();
    const mark = new LogMark(scratch.path);
    mark.set(endAt(5));
    const { size } = statSync(`${scratch.path}-mark`);
    mark.clear();
    expect(readMark(scratch.path)).toBeUndefined();
    expect(statSync(`${scratch.path}-mark`).size).toBe(size);
    mark.set(endAt(6));
    expect(readMark(scratch.path)?.frame).toBe(6);
    mark.clear();
    expect(readMark(scratch.path)).toBeUndefined();
    expect(wasWritten(scratch.path)).toBe(true);
    mark.close();
  });

  test("that was never set needs no clearing: nothing is written", () => {
    using scratch = scratchFolder();
    clearMark(scratch.path);
    expect(wasWritten(scratch.path)).toBe(false);
    expect(existsSync(`${scratch.path}-mark`)).toBe(true);
  });

  test("of a former process is cleared by the next one", () => {
    using scratch = scratchFolder();
    const former = new LogMark(scratch.path);
    former.set(endAt(5));
    former.close();
    clearMark(scratch.path);
    expect(readMark(scratch.path)).toBeUndefined();
    expect(wasWritten(scratch.path)).toBe(true);
  });

  test.skipIf(hidesDescriptors)(
    "is durable when it says that nothing is to be held against a log, or that somebody has written to the file",
    () => {
      using scratch = scratchFolder();
      const mark = new LogMark(scratch.path);
      using synced = watchSyncs();
      mark.set(endAt(5));
      expect(synced.names).toEqual([]);
      mark.clear();
      expect(synced.names).toEqual(["notes.db-mark"]);
      mark.clear();
      expect(synced.names).toEqual(["notes.db-mark"]);
      mark.setSpoiled();
      expect(synced.names).toEqual(["notes.db-mark", "notes.db-mark"]);
      mark.close();
    },
  );

  test("that the disk does not take: a clearing is refused, all else is not told", () => {
    using scratch = scratchFolder();
    symlinkSync("/dev/null", `${scratch.path}-mark`);
    const mark = new LogMark(scratch.path);
    mark.set(endAt(5));
    mark.setSpoiled();
    expect(() => mark.clear()).toThrow("EINVAL");
    mark.close();
    expect(() => mark.clear()).toThrow("EBADF");
    mark.set(endAt(5));
  });

  test.skipIf(hidesDescriptors)("leaves no descriptor behind", () => {
    using scratch = scratchFolder();
    const before = openDescriptors();
    clearMark(scratch.path);
    expect(openDescriptors()).toBe(before);
  });

  test("that is missing, torn or changed says nothing", () => {
    using scratch = scratchFolder();
    expect(readMark(scratch.path)).toBeUndefined();
    expect(wasWritten(scratch.path)).toBe(false);
    const mark = new LogMark(scratch.path);
    mark.set(endAt(5));
    mark.close();
    const whole = readFileSync(`${scratch.path}-mark`);
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at]! ^= 1;
      writeFileSync(`${scratch.path}-mark`, changed);
      expect(readMark(scratch.path), `byte ${at}`).toBeUndefined();
    }
    writeFileSync(`${scratch.path}-mark`, Buffer.concat([whole, Buffer.alloc(1)]));
    expect(readMark(scratch.path)).toBeUndefined();
    truncateSync(`${scratch.path}-mark`, whole.length);
    expect(readMark(scratch.path)?.frame).toBe(5);
    truncateSync(`${scratch.path}-mark`, whole.length - 1);
    expect(readMark(scratch.path)).toBeUndefined();
  });

  test("that cannot be read is told", () => {
    using scratch = scratchFolder();
    writeFileSync(scratch.path, "");
    expect(() => readMark(`${scratch.path}/notes.db`)).toThrow("ENOTDIR");
  });
});

test.each([
  ["the same log", [10, 1], 10, false],
  ["the next one", [10, 1], 11, true],
  ["one before it", [10, 1], 9, false],
  ["the next one, whose salt begins again", [0xff_ff_ff_ff, 1], 0, true],
  ["the last one that may be", [10, 1], 10 + 65_536, true],
  ["one that nobody could have got to", [10, 1], 10 + 65_537, false],
] as const)("a log can follow the one of a mark: %s", (_, salts, later, follows) => {
  expect(canFollow({ salts, frame: 1 }, [later, 0])).toBe(follows);
  // None follows that of a file which was closed.
  expect(canFollow({ salts, frame: 0 }, [later, 0])).toBe(false);
});
