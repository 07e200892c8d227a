import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { noSmallDisk, smallDisk } from "@bridge/tooling/faulty-disk";
import { describe, expect, test } from "vitest";
import { adding, Notes, removing } from "./support/notes.ts";

const NAMES = ["outbox.db", "dlq.db"];

describe.skipIf(noSmallDisk)("two files on one disk (needs the right to mount)", () => {
  test("do not count on the same room: when both take nothing new, all can be deleted from both", async () => {
    using disk = smallDisk(48 * 1024);
    await using both = new AsyncDisposableStack();
    const files = NAMES.map((name) => both.use(new Notes({ path: join(disk.folder, name) })));
    const written = files.map((): string[] => []);
    for (const [index, notes] of files.entries())
      await expect(fill(notes, written[index] ?? [])).rejects.toThrow(/full/);
    // The first may have had room left for itself alone.
    for (const [index, notes] of files.entries())
      await expect(fill(notes, written[index] ?? [])).rejects.toThrow(/full/);
    expect(Math.max(...written.map((ids) => ids.length))).toBeGreaterThan(800);
    for (let n = 0; written.some((ids) => n < ids.length); n++) {
      const ends = files.flatMap((notes, index) =>
        (written[index] ?? []).slice(n, n + 1).map((id) => notes.write(removing(id))),
      );
      await Promise.all(ends);
    }
    expect(files.map((notes) => notes.ids())).toEqual([[], []]);
  });

  test.each([20, 30, 48])("of %i MB take new data again when what had filled it was deleted", async (megabytes) => {
    using disk = smallDisk(megabytes * 1024);
    await using both = new AsyncDisposableStack();
    const [outbox, dlq] = NAMES.map((name) => both.use(new Notes({ path: join(disk.folder, name) })));
    await dlq!.write(adding("a dead letter"));
    const written: string[] = [];
    await expect(fill(outbox!, written)).rejects.toThrow(/full/);
    // The file keeps its size, and what is left of the disk is less than half of it.
    writeFileSync(join(disk.folder, "anything"), Buffer.alloc(200_000));
    for (const id of written) await outbox!.write(removing(id));
    expect(await outbox!.write(adding("more", 20_000))).toBe("more");
    expect(await dlq!.write(adding("another", 20_000))).toBe("another");
  });

  test("have the room of the other when that is closed", async () => {
    using disk = smallDisk(48 * 1024);
    const [outbox = "", dlq = ""] = NAMES.map((name) => join(disk.folder, name));
    await using notes = new Notes({ path: outbox });
    const ids: string[] = [];
    {
      await using other = new Notes({ path: dlq });
      await other.write(adding("a"));
      await expect(fill(notes, ids)).rejects.toThrow(/what is left of it is kept for what makes room/);
    }
    expect(await notes.write(adding("more", 20_000))).toBe("more");
  });
});

async function fill(notes: Notes, ids: string[]): Promise<never> {
  for (;;) ids.push(await notes.write(adding(`n${ids.length}`, 20_000)));
}
