import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { checksumOfFrame, frameOf, isSame, logHeaderOf } from "../../src/database/log-format.ts";
import { scratchFolder } from "./support/notes.ts";

const PAGE_BYTES = 512;
const FRAME_BYTES = 24 + PAGE_BYTES;

/** What SQLite writes for two commits, of which the second one changes more than one page. */
function logOf(): Buffer {
  using scratch = scratchFolder();
  using db = new DatabaseSync(scratch.path);
  db.exec(`PRAGMA page_size = ${PAGE_BYTES}; CREATE TABLE note (bytes BLOB); PRAGMA journal_mode = WAL`);
  db.exec("INSERT INTO note VALUES (zeroblob(1)); INSERT INTO note VALUES (zeroblob(2000))");
  return readFileSync(`${scratch.path}-wal`);
}

/** The same log as a machine of the other byte order writes it: the checksums are of other words. */
function asBigEndian(start: Buffer, magic = 0x377f0683): Buffer {
  const other = Buffer.from(start.subarray(0, 32));
  other.writeUInt32BE(magic, 0);
  let [a, b] = [0, 0];
  for (let at = 0; at < 24; at += 8) {
    a = (a + other.readInt32BE(at) + b) | 0;
    b = (b + other.readInt32BE(at + 4) + a) | 0;
  }
  other.writeInt32BE(a, 24);
  other.writeInt32BE(b, 28);
  return other;
}

describe("the header of a log", () => {
  test("is read as SQLite has written it", () => {
    const log = logOf();
    expect(logHeaderOf(log)).toEqual({
      bigEndian: false,
      pageSize: PAGE_BYTES,
      salts: [log.readUInt32BE(16), log.readUInt32BE(20)],
      checksum: [log.readUInt32BE(24), log.readUInt32BE(28)],
    });
    expect(logHeaderOf(log.subarray(0, 32))).toEqual(logHeaderOf(log));
  });

  test("is read in the other byte order, too", () => {
    const log = logOf();
    expect(logHeaderOf(asBigEndian(log))).toMatchObject({
      bigEndian: true,
      pageSize: PAGE_BYTES,
      salts: logHeaderOf(log)?.salts,
    });
  });

  test("is none when SQLite would take the log for an empty one: short, or changed anywhere", () => {
    const log = logOf();
    expect(logHeaderOf(log.subarray(0, 31))).toBeUndefined();
    for (let at = 0; at < 32; at++) {
      const changed = Buffer.from(log);
      changed[at]! ^= 0x10;
      expect(logHeaderOf(changed), `byte ${at}`).toBeUndefined();
    }
  });

  test("of another version or format is none, whatever its checksum says", () => {
    expect(logHeaderOf(asBigEndian(logOf(), 0x377f0681))).toBeUndefined();
    const other = asBigEndian(logOf());
    other.writeUInt32BE(3_007_001, 4);
    expect(logHeaderOf(asBigEndian(other))).toBeUndefined();
  });
});

describe("a frame of a log", () => {
  test("says which page it is, whether it ends a commit, and whose it is; its checksum runs on from the one before", () => {
    const log = logOf();
    const header = logHeaderOf(log)!;
    const frames = Array.from({ length: (log.length - 32) / FRAME_BYTES }, (_, at) =>
      log.subarray(32 + at * FRAME_BYTES, 32 + (at + 1) * FRAME_BYTES),
    );
    const found = frames.map(frameOf);
    expect(found.length).toBeGreaterThan(3);
    expect(found[0]).toMatchObject({ page: 2, commits: true, salts: header.salts });
    expect(found.map(({ commits }) => commits)).toEqual(found.map((_, at) => at === 0 || at === found.length - 1));
    expect(new Set(found.slice(1).map(({ page }) => page)).size).toBe(found.length - 1);
    let before = header.checksum;
    for (const [at, bytes] of frames.entries()) {
      const sum = checksumOfFrame(bytes, before, header.bigEndian);
      expect(sum).toEqual(found[at]?.checksum);
      expect(checksumOfFrame(bytes, before, true)).not.toEqual(sum);
      before = sum;
    }
  });

  test("has another checksum when its page, its number or what ends a commit has changed; its salts and its checksum have no part in it", () => {
    const log = logOf();
    const header = logHeaderOf(log)!;
    const bytes = log.subarray(32, 32 + FRAME_BYTES);
    const sum = checksumOfFrame(bytes, header.checksum, false);
    for (let at = 0; at < FRAME_BYTES; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(isSame(checksumOfFrame(changed, header.checksum, false), sum), `byte ${at}`).toBe(at >= 8 && at < 24);
    }
  });
});

test.each([
  [[1, 2], [1, 2], true],
  [[1, 2], [1, 3], false],
  [[1, 2], [0, 2], false],
] as const)("the two halves %j and %j are the same: %s", (a, b, same) => expect(isSame(a, b)).toBe(same));
