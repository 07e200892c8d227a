import { times } from "@bridge/tooling/long";
import { closeSync, openSync, readSync, rmSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { noSmallDisk, smallDisk } from "@bridge/tooling/faulty-disk";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LogEnd } from "../../src/database/log-end.ts";
import { runTogether } from "../../src/database/transaction.ts";
import { scratchFolder } from "./support/notes.ts";

/** SQLite tells where its log ends, without a checkpoint, since this version. */
const TELLS = [3, 51];

type Step =
  | { readonly does: "add"; readonly rows: number; readonly bytes: number }
  | { readonly does: "add twice" | "change nothing" | "set a version" | "checkpoint" | "fill the disk" | "make room" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    does: fc.constant("add" as const),
    rows: fc.integer({ min: 1, max: 5 }),
    bytes: fc.integer({ min: 1, max: 40_000 }),
  }),
  fc.record({
    does: fc.constantFrom("add twice", "change nothing", "set a version", "checkpoint", "fill the disk", "make room"),
  }),
);

function canTell(): boolean {
  using db = new DatabaseSync(":memory:");
  const { version } = db.prepare("SELECT sqlite_version() AS version").get() as { version: string };
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > (TELLS[0] ?? 0) || (major === TELLS[0] && minor >= (TELLS[1] ?? 0));
}

test.skipIf(noSmallDisk || !canTell())(
  "is where SQLite says, whatever is written, fails for want of room or changes nothing, and when the log begins anew",
  () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        using disk = smallDisk(512);
        const path = join(disk.folder, "notes.db");
        const ballast = join(disk.folder, "ballast");
        using db = new DatabaseSync(path);
        db.exec("CREATE TABLE note (id INTEGER PRIMARY KEY, bytes BLOB); PRAGMA journal_mode = WAL");
        db.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_spill = OFF");
        db.exec("PRAGMA schema_version");
        const add = db.prepare("INSERT INTO note (id, bytes) VALUES (?, zeroblob(?))");
        const log = openSync(`${path}-wal`, "r+");
        using _ = { [Symbol.dispose]: () => closeSync(log) };
        const logEnd = new LogEnd(log);
        let id = 0;
        const runs: Readonly<Record<Exclude<Step["does"], "add">, () => void>> = {
          "add twice": () => [id, id].map((same) => add.run(same, 1)),
          "change nothing": () => db.exec("DELETE FROM note WHERE id < 0"),
          "set a version": () => db.exec("PRAGMA user_version = 1"),
          checkpoint: () => db.exec("PRAGMA wal_checkpoint(PASSIVE)"),
          "fill the disk": () => writeFileSync(ballast, Buffer.alloc(1024 * 1024)),
          "make room": () => rmSync(ballast, { force: true }),
        };
        for (const each of steps) {
          const run =
            each.does === "add"
              ? () => Array.from({ length: each.rows }, () => add.run(++id, each.bytes))
              : runs[each.does];
          const isOutside = ["checkpoint", "fill the disk", "make room"].includes(each.does);
          try {
            if (isOutside) run();
            else runTogether({ db, path, statements: {}, logEnd }, [{ run, bytes: 1, frees: false }]);
          } catch {
            // The disk is full, which is what it is about.
          }
          const { log: frames } = db.prepare("PRAGMA wal_checkpoint(NOOP)").get() as { log: number };
          expect(logEnd.frame, `after ${JSON.stringify(each)}`).toBe(Math.max(0, frames));
        }
      }),
      { numRuns: times(40, 150) },
    );
  },
);

const PAGE_BYTES = 4_096;
const FRAME_BYTES = 24 + PAGE_BYTES;

/** A file that is written to, and its log. */
class Written implements Disposable {
  readonly #scratch = scratchFolder();
  readonly db = new DatabaseSync(this.#scratch.path);
  readonly log: number;
  readonly end: LogEnd;

  constructor() {
    this.db.exec("CREATE TABLE note (id INTEGER PRIMARY KEY, bytes BLOB); PRAGMA journal_mode = WAL");
    this.db.exec("PRAGMA wal_autocheckpoint = 0; PRAGMA schema_version");
    this.log = openSync(`${this.#scratch.path}-wal`, "r+");
    this.end = new LogEnd(this.log);
  }

  add(bytes = 1): void {
    this.db.exec(`INSERT INTO note (bytes) VALUES (zeroblob(${bytes}))`);
  }

  /** All of the log is in the file: what is written next begins it anew. */
  checkpoint(): void {
    this.db.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }

  cutTo(bytes: number): void {
    truncateSync(`${this.#scratch.path}-wal`, bytes);
  }

  /** Changes one bit of the log. */
  flip(at: number): void {
    const byte = Buffer.alloc(1);
    readSync(this.log, byte, 0, 1, at);
    byte[0]! ^= 1;
    writeSync(this.log, byte, 0, 1, at);
  }

  [Symbol.dispose](): void {
    closeSync(this.log);
    this.db.close();
    this.#scratch[Symbol.dispose]();
  }
}

function startOf(frame: number): number {
  return 32 + (frame - 1) * FRAME_BYTES;
}

describe("the end of a log", () => {
  test("is at its beginning before anything is written, and holds nothing", () => {
    using file = new Written();
    const { end } = file;
    end.follow();
    expect([end.frame, end.header, end.bytes, end.look()]).toEqual([0, undefined, 0, undefined]);
    expect(end.pieces([1])).toEqual({ file: file.log, bytes: 0, at: [] });
    expect([...end.pages]).toEqual([]);
  });

  test("moves by what a commit has written, of which each page is known with its last frame", () => {
    using file = new Written();
    const { end } = file;
    file.add();
    end.follow();
    expect([end.frame, end.bytes]).toEqual([1, 32 + FRAME_BYTES]);
    expect(end.header).toEqual(end.look());
    expect([...end.pages]).toEqual([[2, 1]]);
    file.add(10_000);
    end.follow();
    // One after the other, each of another page: the first page of the table once more, and those that are new.
    expect(end.frame).toBe(1 + end.pages.size);
    expect(end.pages.get(2)).toBeGreaterThan(1);
    expect([...end.pages.values()].toSorted((a = 0, b = 0) => a - b)).toEqual(
      Array.from({ length: end.pages.size }, (_, at) => at + 2),
    );
    expect(end.pieces([1, 3])).toEqual({
      file: file.log,
      bytes: PAGE_BYTES,
      at: [startOf(1) + 24, startOf(3) + 24],
    });
  });

  test("stays where it is when a commit has written nothing, or not all of itself is there", () => {
    using file = new Written();
    const { end } = file;
    file.add();
    end.follow();
    end.follow();
    expect(end.frame).toBe(1);
    file.add();
    file.cutTo(startOf(2) + 23);
    end.follow();
    expect(end.frame).toBe(1);
  });

  test("is known by commits alone: a commit of several pages that is cut off has none", () => {
    using file = new Written();
    file.add(20_000);
    file.cutTo(startOf(3));
    file.end.follow();
    expect([file.end.frame, file.end.pages.size]).toEqual([0, 0]);
  });

  test("is at the beginning again when the log begins anew; pages that were written before are in no frame then", () => {
    using file = new Written();
    const { end } = file;
    file.add(20_000);
    end.follow();
    const former = end.frame;
    expect(former).toBeGreaterThan(2);
    const before = end.header;
    file.checkpoint();
    file.add();
    end.follow();
    // What is behind it is left from before.
    expect(end.frame).toBeLessThan(former);
    expect(end.header?.salts).not.toEqual(before?.salts);
    expect([...end.pages.values()].filter((frame) => frame !== undefined)).toHaveLength(end.frame);
    expect(end.pages.size).toBeGreaterThan(end.frame);
    const { frame } = end;
    end.follow();
    expect(end.frame).toBe(frame);
    end.forgetPages();
    expect(end.pages.size).toBe(0);
    expect(end.frame).toBeGreaterThan(0);
  });

  test("is not moved by a log that is none of this file's, as another one that was copied onto it", () => {
    using file = new Written();
    using other = new Written();
    file.add();
    file.end.follow();
    for (let i = 0; i < 5; i++) other.add();
    const bytes = Buffer.alloc(startOf(6));
    readSync(other.log, bytes, 0, bytes.length, 0);
    const { header } = file.end;
    writeSync(file.log, bytes, 0, bytes.length, 0);
    file.end.follow();
    file.end.commitFailed();
    expect([file.end.frame, file.end.header]).toEqual([1, header]);
  });

  test("has no header when the log was cut off, or that is not as SQLite has written it", () => {
    using file = new Written();
    file.add();
    file.end.follow();
    file.flip(16);
    expect(file.end.look()).toBeUndefined();
    file.end.follow();
    expect(file.end.frame).toBe(1);
    file.cutTo(31);
    expect(file.end.look()).toBeUndefined();
  });

  describe("after a commit that failed, of which a part may be in the log", () => {
    test("moves to the end of the next one", () => {
      using file = new Written();
      const { end } = file;
      file.add();
      end.follow();
      end.commitFailed();
      file.add(10_000);
      end.follow();
      expect(end.frame).toBe(1 + end.pages.size);
      file.add();
      end.follow();
      expect(end.frame).toBe(2 + end.pages.size);
    });

    test("is found from the beginning of the log, too", () => {
      using file = new Written();
      file.add();
      file.end.commitFailed();
      file.end.follow();
      expect(file.end.frame).toBe(1);
    });

    test("is looked for with care in a log that has begun anew with the one that failed", () => {
      using file = new Written();
      const { end } = file;
      file.add();
      end.follow();
      file.checkpoint();
      file.add();
      file.flip(startOf(1) + 24 + 100);
      end.commitFailed();
      end.follow();
      expect(end.frame).toBe(0);
    });

    test.each([
      ["the number of a page", 3],
      ["the first salt", 8],
      ["the first checksum", 16],
      ["the second checksum", 20],
      ["what is in the page", 24 + 100],
    ])("a frame that is not whole is none of it: %s", (_, at) => {
      using file = new Written();
      const { end } = file;
      file.add();
      end.follow();
      end.commitFailed();
      file.add();
      file.flip(startOf(2) + at);
      end.follow();
      expect(end.frame).toBe(1);
      file.flip(startOf(2) + at);
      end.follow();
      expect(end.frame).toBe(2);
    });

    test("is found by the frames themselves no more when the log has begun anew", () => {
      using file = new Written();
      const { end } = file;
      file.add();
      end.follow();
      end.commitFailed();
      file.checkpoint();
      file.add();
      end.follow();
      expect(end.frame).toBe(1);
      file.add();
      // Nothing but that this commit was the first one since would say that it is whole.
      file.flip(startOf(2) + 24 + 100);
      end.follow();
      expect(end.frame).toBe(2);
    });
  });
});
