import { PATIENCE } from "@bridge/tooling/patience";
import { execFileSync } from "node:child_process";
import { closeSync, existsSync, fdatasyncSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { noThinDisk, thinDisk } from "@bridge/tooling/faulty-disk";
import { describe, expect, test, vi } from "vitest";
import { adding, Notes } from "./support/notes.ts";

const PAGE = 4_096;

/** Makes the system forget what it has of a file in its cache, but what is still to be written. */
function forget(path: string): void {
  if (existsSync(path)) execFileSync("dd", [`if=${path}`, "iflag=nocache", "count=0", "status=none"]);
}

describe.skipIf(noThinDisk)("a disk whose pool is used up (needs the right to mount)", () => {
  test("what it says that it has, it has: also of a write for which the pool has only some pages", () => {
    using disk = thinDisk();
    // Where the file system keeps what it knows, the disk has its blocks already.
    writeFileSync(join(disk.folder, "former"), Buffer.alloc(64 * PAGE), { flush: true });
    const file = openSync(join(disk.folder, "file"), "w+");
    writeSync(file, Buffer.alloc(PAGE, 1), 0, PAGE, 0);
    fdatasyncSync(file);
    disk.drain();
    writeSync(file, Buffer.alloc(4 * PAGE, 2), 0, 4 * PAGE, 0);
    expect(() => fdatasyncSync(file)).toThrow(/ENOSPC|EIO/);
    closeSync(file);
    disk.refill();
  });

  test("loses nothing that was confirmed, though the system forgets what it could not write", async () => {
    using disk = thinDisk();
    const path = join(disk.folder, "notes.db");
    const done: string[] = [];
    const write = async (id: string): Promise<void> => void done.push(await notes.write(adding(id, 3_000)));
    let notes = new Notes({ path });
    try {
      for (let i = 0; i < 50; i++) await write(`before ${i}`);
      disk.drain();
      for (let i = 0, refused = 0; refused < 20; i++) {
        const isTaken = await write(`meanwhile ${i}`).then(
          () => true,
          () => false,
        );
        if (!isTaken) refused++;
        for (const [part, every] of [
          ["-wal", 2],
          ["", 3],
          ["-mark", 5],
        ] as const)
          if (i % every === 0) forget(path + part);
      }
      disk.refill();
      await vi.waitFor(() => write("after"), PATIENCE);
      expect(notes.ids()).toEqual(expect.arrayContaining(done));
    } finally {
      await notes[Symbol.asyncDispose]();
    }
    forget(path);
    notes = new Notes({ path });
    expect(notes.ids()).toEqual(expect.arrayContaining(done));
    await notes[Symbol.asyncDispose]();
  });
});
