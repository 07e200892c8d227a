import { times } from "@bridge/tooling/long";
import { fdatasyncSync, readFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { carryLogOver } from "../../src/database/connection.ts";
import { runTogether } from "../../src/database/transaction.ts";
import { adding, Notes, openNotes, scratchFolder } from "./support/notes.ts";

/** What a disk writes as a whole. */
const SECTOR = 512;
/** The header of a log, which SQLite syncs before it writes behind a new one. */
const HEADER = 32;

/** What may be left of a log: of what was not synced any of the sectors, and any of the two lengths. */
function torn(synced: Uint8Array, latest: Uint8Array, luck: () => boolean): Buffer {
  const former = new Uint8Array(latest.length);
  former.set(synced.subarray(0, latest.length));
  former.set(latest.subarray(0, HEADER));
  const length = luck() ? latest.length : Math.min(synced.length, latest.length);
  const sectors: Uint8Array[] = [];
  for (let at = 0; at < length; at += SECTOR) {
    sectors.push((luck() ? latest : former).subarray(at, Math.min(at + SECTOR, length)));
  }
  return Buffer.concat(sectors);
}

interface Batch {
  /** Of each write. */
  readonly sizes: readonly number[];
  /** Whether the log is brought into the file then, so that the next write begins it anew. */
  readonly checkpoint: boolean;
}

test("what was done survives a power loss, whatever becomes of what was not synced", { timeout: 120_000 }, async () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 6_000 }), { minLength: 1, maxLength: 6 });
  const batch: fc.Arbitrary<Batch> = fc.record({ sizes, checkpoint: fc.boolean() });
  const batches = fc.array(batch, { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(batches, fc.infiniteStream(fc.boolean()), fc.nat(), async (written, luck, pick) => {
      using scratch = scratchFolder();
      using after = scratchFolder();
      const log = `${scratch.path}-wal`;
      let synced: Uint8Array = new Uint8Array();
      const done: string[] = [];
      const file = openNotes(scratch.path);
      using _ = { [Symbol.dispose]: () => file.close() };
      // Any of these may be what the disk has of it: it is not synced while the file is open.
      const marks: Buffer[] = [readFileSync(`${scratch.path}-mark`)];
      for (const [at, { sizes: bytes, checkpoint }] of written.entries()) {
        const ids = bytes.map((_count, i) => `${at}-${i}`);
        const outcomes = runTogether(
          file,
          ids.map((id, i) => adding(id, bytes[i])),
        );
        expect(outcomes.every(({ ok }) => ok)).toBe(true);
        // The last batch is not synced.
        if (at === written.length - 1) break;
        fdatasyncSync(file.log);
        synced = readFileSync(log);
        file.mark.set(file.logEnd);
        marks.push(readFileSync(`${scratch.path}-mark`));
        done.push(...ids);
        if (checkpoint) carryLogOver(file);
      }
      writeFileSync(after.path, readFileSync(scratch.path));
      writeFileSync(`${after.path}-mark`, marks[pick % marks.length] ?? "");
      writeFileSync(
        `${after.path}-wal`,
        torn(synced, readFileSync(log), () => luck.next().value === true),
      );
      await using survivor = new Notes({ path: after.path });
      expect(survivor.ids()).toEqual(expect.arrayContaining(done));
      expect(await survivor.write(adding("next"))).toBe("next");
    }),
    { numRuns: times(30, 100) },
  );
});
