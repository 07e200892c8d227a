import { fdatasync, readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { adding, Notes, scratchFolder } from "./support/notes.ts";

/** What a disk writes as a whole. */
const SECTOR = 512;

/** What may be left of a log: of what was not synced any of the sectors, and any of the two lengths. */
function torn(synced: Uint8Array, latest: Uint8Array, luck: () => boolean): Buffer {
  const former = new Uint8Array(latest.length);
  former.set(synced);
  const length = luck() ? latest.length : synced.length;
  const sectors: Uint8Array[] = [];
  for (let at = 0; at < length; at += SECTOR) {
    sectors.push((luck() ? latest : former).subarray(at, Math.min(at + SECTOR, length)));
  }
  return Buffer.concat(sectors);
}

test("what was done survives a power loss, whatever becomes of what was not synced", { timeout: 120_000 }, async () => {
  const size = fc.integer({ min: 0, max: 6_000 });
  const batches = fc.array(fc.array(size, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(batches, fc.infiniteStream(fc.boolean()), async (sizes, luck) => {
      using scratch = scratchFolder();
      using after = scratchFolder();
      const log = `${scratch.path}-wal`;
      let synced: Uint8Array = new Uint8Array();
      const sync = async (file: number): Promise<void> => {
        const written = readFileSync(log);
        await promisify(fdatasync)(file);
        synced = written;
      };
      const done: string[] = [];
      await using notes = new Notes({ path: scratch.path, sync });
      for (const [batch, bytes] of sizes.entries()) {
        const writes = bytes.map((count, i) => notes.write(adding(`${batch}-${i}`, count)));
        if (batch < sizes.length - 1) done.push(...(await Promise.all(writes)));
      }
      // The last batch is written by now, and not synced.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      writeFileSync(after.path, readFileSync(scratch.path));
      writeFileSync(
        `${after.path}-wal`,
        torn(synced, readFileSync(log), () => luck.next().value === true),
      );
      await using survivor = new Notes({ path: after.path });
      expect(survivor.ids()).toEqual(expect.arrayContaining(done));
      expect(await survivor.write(adding("next"))).toBe("next");
    }),
    { numRuns: 100 },
  );
});
