import { PATIENCE } from "@bridge/tooling/patience";
import { execFileSync } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { breakableDisk, immutable, noBreakableDisk, noSmallDisk, smallDisk } from "@bridge/tooling/faulty-disk";
import { describe, expect, test, vi } from "vitest";
import { adding, Notes, removing, scratchFolder } from "./support/notes.ts";
import { tickingClock } from "./support/ticking-clock.ts";

const UNAVAILABLE = { code: "UNAVAILABLE", charged: false };

describe.skipIf(noSmallDisk)("a disk that is full (needs the right to mount)", () => {
  test("refuses what needs room, loses nothing, and goes on when there is some", async () => {
    using disk = smallDisk(1_024);
    const ballast = join(disk.folder, "ballast");
    writeFileSync(ballast, Buffer.alloc(400 * 1024));
    await using notes = new Notes({ path: join(disk.folder, "notes.db") });
    const done: string[] = [];
    const fill = async (): Promise<void> => {
      for (;;) done.push(await notes.write(adding(`n${done.length}`, 10_000)));
    };
    await expect(fill()).rejects.toMatchObject(UNAVAILABLE);
    await expect(fill()).rejects.toThrow(/the disk is full: make room/);
    expect(notes.writable).toBe(false);
    expect(notes.health().fault).toMatch(/the disk is full: make room/);
    expect(notes.ids()).toEqual(done);
    rmSync(ballast);
    expect(await notes.write(adding("more", 10_000))).toBe("more");
    expect(notes.writable).toBe(true);
    expect(notes.health()).toEqual({ fault: undefined, setAside: [] });
    expect(notes.ids()).toEqual([...done, "more"]);
  });

  test.each(["in use", "opened again"])(
    "keeps room for what makes room: all can be deleted from a file %s",
    async (how) => {
      using disk = smallDisk(24 * 1_024);
      const options = { path: join(disk.folder, "notes.db") };
      const done: string[] = [];
      const fill = async (notes: Notes): Promise<void> => {
        for (;;) done.push(await notes.write(adding(`n${done.length}`, 20_000)));
      };
      let notes = new Notes(options);
      try {
        await expect(fill(notes)).rejects.toThrow(/the disk is full/);
        if (how === "opened again") {
          await notes[Symbol.asyncDispose]();
          notes = new Notes(options);
        }
        expect(notes.ids()).toEqual(done);
        for (const id of done) await notes.write(removing(id));
        expect(notes.ids()).toEqual([]);
        const filled = done.splice(0).length;
        await expect(fill(notes)).rejects.toThrow(/the disk is full/);
        expect(done.length, "the room of what is gone is used again").toBeGreaterThan(filled / 2);
      } finally {
        await notes[Symbol.asyncDispose]();
      }
    },
  );

  test("is found to have room again when nobody writes", async () => {
    using disk = smallDisk(1_024);
    const { clock, tick } = tickingClock();
    await using notes = new Notes({ path: join(disk.folder, "notes.db"), clock });
    await expect(notes.write(adding("large", 2_000_000))).rejects.toMatchObject(UNAVAILABLE);
    expect(notes.health().fault).toMatch(/the disk is full/);
    tick();
    await vi.waitFor(() => expect(notes.health().fault).toBeUndefined(), PATIENCE);
    expect(notes.ids()).toEqual([]);
  });

  test("lets through what makes room as long as there is room for that", async () => {
    using disk = smallDisk(1_024);
    await using notes = new Notes({ path: join(disk.folder, "notes.db") });
    await notes.write(adding("small"));
    const [large, removed] = await Promise.allSettled([
      notes.write(adding("large", 2_000_000)),
      notes.write(removing("small")),
    ]);
    expect(large).toMatchObject({ status: "rejected", reason: UNAVAILABLE });
    expect(removed).toMatchObject({ status: "fulfilled" });
    expect(notes.health().fault, "what frees room does not say that there is any").toMatch(/the disk is full/);
    expect(notes.ids()).toEqual([]);
  });

  test("can be opened without room for the log: what is in the file is read, and written to when there is some", async () => {
    using disk = smallDisk(1_024);
    const path = join(disk.folder, "notes.db");
    {
      await using notes = new Notes({ path });
      await notes.write(adding("a"));
    }
    const ballast = join(disk.folder, "ballast");
    expect(() => writeFileSync(ballast, Buffer.alloc(2 * 1024 * 1024))).toThrow(/ENOSPC/);
    await using notes = new Notes({ path });
    expect(notes.ids()).toEqual(["a"]);
    await expect(notes.write(adding("b"))).rejects.toThrow(/the disk is full/);
    rmSync(ballast);
    expect(await notes.write(adding("b"))).toBe("b");
  });
});

test("a new file on a disk without any room may be tried again, one that is damaged or in use may not", async () => {
  using scratch = scratchFolder();
  const { path } = scratch;
  await using _ = new Notes({ path });
  expect(refusalOf(path)).toMatchObject({ code: "UNAVAILABLE", retryAfterMs: undefined });
  const other = join(scratch.folder, "other.db");
  writeFileSync(`${other}-wal`, "a log without its file");
  expect(refusalOf(other)).toMatchObject({ code: "UNAVAILABLE", retryAfterMs: undefined });
  expect(refusalOf(join(scratch.folder, "n".repeat(300)))).toMatchObject({ retryAfterMs: undefined });
});

describe.skipIf(noSmallDisk)("a disk without any room for a new file (needs the right to mount)", () => {
  test("lets it be tried again, and made when there is some", async () => {
    using disk = smallDisk(256);
    const path = join(disk.folder, "folder", "notes.db");
    const ballast = join(disk.folder, "ballast");
    expect(() => writeFileSync(ballast, Buffer.alloc(1024 * 1024))).toThrow(/ENOSPC/);
    for (let twice = 0; twice < 2; twice++) {
      expect(() => new Notes({ path })).toThrow(/the disk is full/);
      expect(refusalOf(path)).toMatchObject({ retryAfterMs: 1_000 });
    }
    rmSync(ballast);
    await using notes = new Notes({ path });
    expect(await notes.write(adding("a"))).toBe("a");
  });
});

function refusalOf(path: string): unknown {
  try {
    void new Notes({ path })[Symbol.asyncDispose]();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe.skipIf(noBreakableDisk)("a disk that turns read-only (needs the right to mount)", () => {
  test.each([
    ["at once", () => {}],
    // The system looks at its pages again then, before they are written to.
    ["when it has everything", (folder: string) => void execFileSync("sync", ["-f", folder])],
  ])("refuses writes and says so: %s", async (_, before) => {
    using disk = breakableDisk();
    await using notes = new Notes({ path: join(disk.folder, "notes.db") });
    await notes.write(adding("a"));
    before(disk.folder);
    disk.break();
    await expect(notes.write(adding("b"))).rejects.toMatchObject(UNAVAILABLE);
    await expect(notes.write(adding("b"))).rejects.toThrow(/read-only|the disk fails/);
    expect(notes.writable).toBe(false);
  });

  test("is told although nobody writes, and not before", async () => {
    using disk = breakableDisk();
    const { clock, tick } = tickingClock();
    await using notes = new Notes({ path: join(disk.folder, "notes.db"), clock });
    await notes.write(adding("a"));
    execFileSync("sync", ["-f", disk.folder]);
    tick();
    expect(notes.health().fault).toBeUndefined();
    disk.break();
    tick();
    await vi.waitFor(() => expect(notes.health().fault).toMatch(/read-only|the disk fails/), PATIENCE);
    expect(notes.writable).toBe(false);
  });

  test("a lock file that nobody may change, beside a file that takes writes, says nothing", async () => {
    using disk = breakableDisk();
    const { clock, tick } = tickingClock();
    const path = join(disk.folder, "notes.db");
    await using notes = new Notes({ path, clock });
    using _ = immutable([`${path}-lock`]);
    tick();
    await notes.write(adding("a"));
    expect(notes.health().fault).toBeUndefined();
    expect(notes.writable).toBe(true);
  });

  test("a lock file that may not be written to is named, and is not tried again", async () => {
    using disk = breakableDisk();
    const path = join(disk.folder, "notes.db");
    await new Notes({ path })[Symbol.asyncDispose]();
    execFileSync("sync", ["-f", disk.folder]);
    using _ = immutable([`${path}-lock`]);
    expect(refusalOf(path)).toMatchObject({ retryAfterMs: undefined });
    expect(String(refusalOf(path))).toMatch(
      /has "notes\.db-lock" beside it, which this user may not read and write: let/,
    );
  });

  test("files that nobody may write to any more refuse writes, end nothing, and go on when one may", async () => {
    using disk = breakableDisk();
    await using notes = new Notes({ path: join(disk.folder, "notes.db") });
    await notes.write(adding("a"));
    execFileSync("sync", ["-f", disk.folder]);
    {
      using _ = immutable(readdirSync(disk.folder).map((name) => join(disk.folder, name)));
      await expect(notes.write(adding("b"))).rejects.toMatchObject(UNAVAILABLE);
      await expect(notes.write(adding("b"))).rejects.toThrow(
        /notes\.db: is a file that this user may not read and write: let/,
      );
    }
    await vi.waitFor(() => notes.write(adding("c")), PATIENCE);
    expect(notes.ids()).toEqual(expect.arrayContaining(["a", "c"]));
  });
});
