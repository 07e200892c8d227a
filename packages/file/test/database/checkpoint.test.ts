import { execFile } from "node:child_process";
import { existsSync, fdatasync, readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bundle } from "@bridge/tooling/application";
import { expect, test } from "vitest";
import { adding, Notes, scratchFolder } from "./support/notes.ts";

const MEGABYTE = 1024 * 1024;
const LOG_BYTES = 8 * MEGABYTE;

test("the log is cut back each time it is full, while writes go on", { timeout: 60_000 }, async () => {
  using scratch = scratchFolder();
  await using notes = new Notes({ path: scratch.path });
  const logBytes = (): number => statSync(`${scratch.path}-wal`).size;
  let written = 0;
  const write = (size: number): Promise<unknown> => notes.write(adding(`${written++}`, size));
  for (let rounds = 0; rounds < 5; rounds++) {
    for (let bytes = 0; bytes < 2 * LOG_BYTES && logBytes() <= LOG_BYTES; bytes += MEGABYTE) await write(MEGABYTE);
    expect(logBytes(), "nothing has filled the log").toBeGreaterThan(LOG_BYTES);
    // However long the disk takes for it; small writes hardly make it longer meanwhile.
    while (logBytes() > LOG_BYTES) await write(10);
  }
  expect(statSync(scratch.path).size).toBeGreaterThan(4 * LOG_BYTES);
  expect(notes.ids()).toHaveLength(written);
});

test("it works in a program that was bundled into one file", { timeout: 60_000 }, async () => {
  using scratch = scratchFolder();
  await bundle({ "note-writer": fileURLToPath(new URL("support/note-writer.ts", import.meta.url)) }, scratch.folder);
  const program = join(scratch.folder, "note-writer.js");
  const path = join(scratch.folder, "data", "notes.db");
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, path, "65536", "400"]);
  expect(stderr).toBe("");
  expect(stdout.trim().split("\n").at(-1)).toBe("closed");
  await using notes = new Notes({ path });
  expect(notes.ids().length).toBeGreaterThanOrEqual(400);
});

const HANDLES = "/proc/self/fd";

test.skipIf(!existsSync(HANDLES))(
  "its thread opens the log while nothing is being synced: one that opens it later is not told that a sync has failed",
  { timeout: 60_000 },
  async () => {
    using scratch = scratchFolder();
    const log = `${scratch.path}-wal`;
    const handles = (): number => readdirSync(HANDLES).filter((handle) => leadsTo(`${HANDLES}/${handle}`, log)).length;
    const openedDuring: boolean[] = [];
    let usual = 0;
    const sync = async (file: number): Promise<void> => {
      const before = handles();
      usual ||= before;
      // Long enough for a thread to begin.
      const end = performance.now() + (before === usual && statSync(log).size > LOG_BYTES ? 200 : 0);
      while (performance.now() < end && handles() === before) await new Promise((resolve) => setImmediate(resolve));
      openedDuring.push(handles() !== before);
      await promisify(fdatasync)(file);
    };
    await using notes = new Notes({ path: scratch.path, sync });
    let written = 0;
    const write = (bytes: number): Promise<string> => notes.write(adding(`${written++}`, bytes));
    await write(10);
    while (handles() === usual) await write(MEGABYTE);
    await write(10);
    expect(openedDuring).not.toContain(true);
  },
);

function leadsTo(link: string, path: string): boolean {
  try {
    return readlinkSync(link) === path;
  } catch {
    return false;
  }
}
