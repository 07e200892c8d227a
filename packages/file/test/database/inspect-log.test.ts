import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { inspectLog } from "../../src/database/inspect-log.ts";
import { checksumOfFrame } from "../../src/database/log-format.ts";
import type { Mark } from "../../src/database/log-mark.ts";
import { scratchFolder } from "./support/notes.ts";
import { hidesDescriptors, openDescriptors } from "./support/system-calls.ts";

const PAGE_BYTES = 512;
const FRAME_BYTES = 24 + PAGE_BYTES;
/** Each commit of the log: the last one has several frames, the others one. */
const COMMITS = 4;

interface Log extends Disposable {
  readonly path: string;
  readonly salts: Mark["salts"];
  readonly frames: number;
  /** Changes one bit. */
  flip(at: number): void;
  change(change: (bytes: Buffer) => void): void;
  cutTo(bytes: number): void;
}

function startOf(frame: number): number {
  return 32 + (frame - 1) * FRAME_BYTES;
}

/** A log as a process that was killed has left it. */
function left(): Log {
  const scratch = scratchFolder();
  const path = `${scratch.path}-left`;
  {
    using db = new DatabaseSync(scratch.path);
    db.exec(`PRAGMA page_size = ${PAGE_BYTES}; CREATE TABLE note (bytes BLOB); PRAGMA journal_mode = WAL`);
    for (const size of [1, 1, 1, 2_000]) db.exec(`INSERT INTO note VALUES (zeroblob(${size}))`);
    writeFileSync(`${path}-wal`, readFileSync(`${scratch.path}-wal`));
  }
  const bytes = readFileSync(`${path}-wal`);
  return {
    path,
    salts: [bytes.readUInt32BE(16), bytes.readUInt32BE(20)],
    frames: (bytes.length - 32) / FRAME_BYTES,
    flip(at) {
      this.change(() => (bytes[at]! ^= 1));
    },
    change(change) {
      change(bytes);
      writeFileSync(`${path}-wal`, bytes);
    },
    cutTo: (length) => writeFileSync(`${path}-wal`, bytes.subarray(0, length)),
    [Symbol.dispose]: () => scratch[Symbol.dispose](),
  };
}

/** What is said of the log; `undefined` when it is sound. */
function verdictOn(path: string, mark?: Mark): string | undefined {
  const before = openDescriptors();
  try {
    inspectLog(path, mark);
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ fault: "damaged", code: "UNAVAILABLE" });
    return (error as { readonly cause: Error }).cause.message;
  } finally {
    expect(openDescriptors()).toBe(before);
  }
}

describe.skipIf(hidesDescriptors)("a log that is not there, or holds nothing", () => {
  test.each<[string, (log: string) => void]>([
    ["gone", () => {}],
    ["empty", (log) => writeFileSync(log, "")],
    ["of zeros only", (log) => writeFileSync(log, Buffer.alloc(5_000))],
    ["begun with zeros", (log) => writeFileSync(log, Buffer.alloc(20))],
  ])("%s: is missed when confirmed pages were in it", (_, make) => {
    using scratch = scratchFolder();
    make(`${scratch.path}-wal`);
    expect(verdictOn(scratch.path)).toBeUndefined();
    expect(verdictOn(scratch.path, { frame: 0, salts: [0, 0] })).toBeUndefined();
    expect(verdictOn(scratch.path, { frame: 5, salts: [1, 2] })).toBe(
      `its log is gone: 5 confirmed pages were in it; if this is a copy that you have put back, delete ${scratch.path}-mark`,
    );
    expect(existsSync(scratch.path)).toBe(false);
  });

  test("but is no file: that is told as it is", () => {
    using scratch = scratchFolder();
    mkdirSync(`${scratch.path}-wal`);
    expect(() => inspectLog(scratch.path, undefined)).toThrow("EISDIR");
    expect(() => inspectLog(`${scratch.path}${"x".repeat(300)}`, undefined)).toThrow("ENAMETOOLONG");
  });
});

describe.skipIf(hidesDescriptors)("a log whose header is not as it was written", () => {
  test.each([
    ["nobody knows what was in it", undefined, ""],
    ["nothing was confirmed", { frame: 0, salts: [0, 0] }, ""],
    ["pages were confirmed", { frame: 3, salts: [0, 0] }, ": 3 confirmed pages cannot be read"],
  ] as const)("is damaged: %s", (_, mark, known) => {
    using log = left();
    log.flip(17);
    expect(verdictOn(log.path, mark)).toBe(`the header of its log is not as it was written${known}`);
  });

  test("is damaged when it is cut off", () => {
    using log = left();
    log.cutTo(31);
    expect(verdictOn(log.path)).toBe("the header of its log is not as it was written");
  });
});

describe.skipIf(hidesDescriptors)("a log as it was written", () => {
  test("is sound, as far as it was confirmed", () => {
    using log = left();
    const { salts, frames, path } = log;
    expect(frames).toBeGreaterThan(COMMITS);
    expect(verdictOn(path)).toBeUndefined();
    for (const frame of [1, frames]) expect(verdictOn(path, { frame, salts })).toBeUndefined();
    expect(verdictOn(path, { frame: frames + 2, salts })).toBe(
      `its log is not as it was written from page ${frames + 1} on: 2 of ${frames + 2} confirmed pages would be lost`,
    );
  });

  test("is sound when a crash has torn its last commit, which was not confirmed", () => {
    using log = left();
    const { salts, frames, path } = log;
    for (const end of [startOf(frames + 1) - 1, startOf(frames), startOf(COMMITS)]) {
      log.cutTo(end);
      expect(verdictOn(path)).toBeUndefined();
      expect(verdictOn(path, { frame: 3, salts })).toBeUndefined();
      expect(verdictOn(path, { frame: frames, salts })).toContain(
        `${frames - 3} of ${frames} confirmed pages would be lost`,
      );
    }
  });

  test.each([
    ["the next one after the mark", 1, undefined],
    ["of another time than the mark", -1, "its log is of another time: 3 confirmed pages are not in it"],
  ] as const)("is looked at for its time: %s", (_, later, verdict) => {
    using log = left();
    const salts = [(log.salts[0] - later) >>> 0, 7] as const;
    expect(verdictOn(log.path, { frame: 3, salts })).toBe(verdict);
    // The same second salt makes it no other one.
    expect(verdictOn(log.path, { frame: 3, salts: [salts[0], log.salts[1]] })).toBe(verdict);
  });

  test("is of another time when the file was closed, which leaves none; unless it holds no commit", () => {
    using log = left();
    const closed = { frame: 0, salts: [0, 0] } as const;
    expect(verdictOn(log.path, closed)).toBe("it has no log, and the one beside it is of another time");
    log.cutTo(startOf(2) - 1);
    expect(verdictOn(log.path, closed)).toBeUndefined();
  });
});

describe.skipIf(hidesDescriptors)("a log that was changed", () => {
  const WHERE = [
    ["the number of a page", 3],
    ["the end of a commit", 7],
    ["the first salt", 11],
    ["the second salt", 15],
    ["the first checksum", 19],
    ["the second checksum", 23],
    ["what is in a page", 300],
  ] as const;

  test.each(WHERE)("in a commit that others were written behind is damaged, without a mark, too: %s", (_, at) => {
    using log = left();
    log.flip(startOf(2) + at);
    const isChecksum = at === 19 || at === 23;
    // A frame whose checksum was changed makes the next one seem to be, too.
    const behind = log.frames - (isChecksum ? 3 : 2);
    const ends = isChecksum ? 1 : 2;
    expect(verdictOn(log.path)).toBe(
      `its log is not as it was written from page 2 on: at least ${behind} pages behind it, with the ends of ${ends} writes, would be lost`,
    );
    expect(verdictOn(log.path, { frame: log.frames, salts: log.salts })).toBe(
      `its log is not as it was written from page 2 on: ${log.frames - 1} of ${log.frames} confirmed pages would be lost`,
    );
  });

  test.each(WHERE.filter(([, at]) => at !== 7))(
    "in its last commit, which may never have been confirmed, is sound without a mark: %s",
    (_, at) => {
      using log = left();
      log.flip(startOf(COMMITS) + at);
      expect(verdictOn(log.path)).toBeUndefined();
      expect(verdictOn(log.path, { frame: 3, salts: log.salts })).toBeUndefined();
      expect(verdictOn(log.path, { frame: log.frames, salts: log.salts })).toContain("from page 4 on");
    },
  );

  test.each([
    ["first", 11],
    ["second", 15],
  ])(
    "in the end of its last commit but one is damaged, when only its %s salt tells: another log has two others",
    (_, at) => {
      using log = left();
      log.flip(startOf(COMMITS - 1) + at);
      expect(verdictOn(log.path)).toContain(`from page ${COMMITS - 1} on`);
      log.flip(startOf(COMMITS - 1) + 26 - at);
      expect(verdictOn(log.path)).toBeUndefined();
    },
  );

  test("is damaged from a frame of no page on, at which SQLite stops", () => {
    using log = left();
    log.change((bytes) => {
      bytes.writeUInt32BE(0, startOf(2));
      let before: readonly [number, number] = [
        bytes.readUInt32BE(startOf(1) + 16),
        bytes.readUInt32BE(startOf(1) + 20),
      ];
      for (let frame = 2; frame <= log.frames; frame++) {
        before = checksumOfFrame(bytes.subarray(startOf(frame), startOf(frame + 1)), before, false);
        for (const half of [0, 1]) bytes.writeUInt32BE(before[half] ?? 0, startOf(frame) + 16 + 4 * half);
      }
    });
    expect(verdictOn(log.path)).toContain("from page 2 on");
  });
});
