import { times } from "@bridge/tooling/long";
import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { noSmallDisk, smallDisk } from "@bridge/tooling/faulty-disk";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LogEnd } from "../../src/database/log-end.ts";
import { runTogether } from "../../src/database/transaction.ts";

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
