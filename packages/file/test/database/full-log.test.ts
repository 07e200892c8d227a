import { writeFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { noSmallDisk, smallDisk } from "@bridge/tooling/faulty-disk";
import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, test, vi } from "vitest";
import { adding, Notes } from "./support/notes.ts";

const SIZE = 500_000;

/** Room that one note has and the other is to get: the file stays as long as it is, and the log has it twice. */
function replacing(former: string, id: string) {
  return {
    ...adding(id, SIZE),
    frees: true,
    run(statements: Parameters<ReturnType<typeof adding>["run"]>[0]) {
      statements.remove(former);
      statements.add(id, new Uint8Array(SIZE).fill(8));
      return id;
    },
  };
}

describe.skipIf(noSmallDisk)("a small disk that the log has filled (needs the right to mount)", () => {
  test.each([1, 3, 5])(
    "has its log brought into the file, and is written to again without a restart: %i MiB of room",
    async (mib) => {
      using disk = smallDisk(20 * 1024);
      const path = join(disk.folder, "notes.db");
      {
        await using notes = new Notes({ path });
        for (let n = 0; n < 8; n++) await notes.write(adding(`n${n}`, SIZE));
      }
      await using notes = new Notes({ path });
      const rest = (20 - mib) * 1024 * 1024 - statSync(path).size;
      writeFileSync(join(disk.folder, "of others"), Buffer.alloc(rest));
      let former = "n0";
      let written = 0;
      const replace = async (): Promise<void> => {
        former = await notes.write(replacing(former, `r${written}`));
        written++;
      };
      const untilFull = async (): Promise<void> => {
        for (;;) await replace();
      };
      await expect(untilFull()).rejects.toThrow(/the disk is full/);
      // More than the log has room for, twice over.
      const more = Math.ceil((4 * mib * 1024 * 1024) / SIZE);
      for (let n = 0; n < more; n++) await vi.waitFor(replace, { ...PATIENCE, interval: 20 });
      expect(notes.ids()).toHaveLength(8);
      expect(notes.ids()).toContain(former);
    },
  );
});
