import { existsSync, rmSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { type Clock, type LogFields, type Logger, silentLogger, systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import { FileFault } from "../../src/database/file-fault.ts";
import { RecoveringFile } from "../../src/database/recovering-file.ts";
import { confirm, NOTES, prepareNotes, scratchFolder } from "./support/notes.ts";

test("finding 10.1: a file that failed is not opened again while somebody else in the process still has it", async () => {
  using scratch = scratchFolder();
  const { path } = scratch;
  const released = Promise.withResolvers<void>();
  const options = {
    kind: NOTES,
    onDamage: "refuse",
    prepare: () => ({}),
    clock: systemClock,
    logger: silentLogger,
  } as const;
  const file = new RecoveringFile(path, options, () => released.promise);
  const former = file.open();
  const fault = new FileFault(path, "failing");
  file.fail(fault);
  expect(() => file.open()).toThrow(fault);
  expect(file.isOpen(former)).toBe(false);
  released.resolve();
  await expect.poll(() => file.isOpen(file.open())).toBe(true);
  expect(file.failure).toBeUndefined();
  file.close();
});

test("a file that failed is tried at once, one that could not be opened then once a second, and says what it was last", async () => {
  using scratch = scratchFolder();
  const { path } = scratch;
  let now = 5_000;
  let tries = 0;
  let wrong: FileFault | undefined;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  const prepare = () => {
    tries++;
    if (wrong !== undefined) throw wrong;
    return {};
  };
  const options = { kind: NOTES, onDamage: "refuse", prepare, clock, logger: silentLogger } as const;
  const file = new RecoveringFile(path, options, async () => {});
  file.fail(new FileFault(path, "failing"));
  wrong = new FileFault(path, "full");
  await expect.poll(() => tried(file)).toBe(wrong.message);
  for (now of [5_001, 5_999]) expect([tried(file), tries]).toEqual([wrong.message, 2]);
  expect(file.failure?.message).toBe(wrong.message);
  now = 6_000;
  expect([tried(file), tries]).toEqual([wrong.message, 3]);
  wrong = undefined;
  now = 6_999;
  expect(tried(file)).toContain("full");
  now = 7_000;
  expect([tried(file), tries, file.failure]).toEqual([undefined, 4, undefined]);
  file.close();
});

test.each<[string, (file: RecoveringFile<DatabaseSync>) => void]>([
  ["at the end", (file) => file.close()],
  ["after it failed", (file) => file.fail(new FileFault(file.path, "failing"))],
  ["after its log was gone", (file) => file.fail(new FileFault(file.path, "disturbed"))],
])("a file that cannot be closed well keeps nobody from going on, and is told of: %s", (_, end) => {
  using scratch = scratchFolder();
  const { path } = scratch;
  const told: [string, LogFields | undefined][] = [];
  const logger: Logger = { ...silentLogger, warn: (line, fields) => void told.push([line, fields]) };
  const prepare = (db: DatabaseSync) => db;
  const options = { kind: NOTES, onDamage: "refuse", prepare, clock: systemClock, logger } as const;
  const file = new RecoveringFile(path, options, async () => {});
  const opened = file.open();
  opened.db.close();
  end(file);
  expect(file.isOpen(opened)).toBe(false);
  expect(told).toEqual([["the file was not closed well", { file: path, error: "Error: database is not open" }]]);
});

/** A file that a test looks after, and what it is told of it. */
function watched(path: string) {
  const told: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (line) => void told.push(line) };
  const released = Promise.withResolvers<void>();
  const options = { kind: NOTES, onDamage: "refuse", prepare: prepareNotes, clock: systemClock, logger } as const;
  return { told, released, file: new RecoveringFile(path, options, () => released.promise) };
}

test("a file that failed and is gone is not begun anew: what it held may come back with it", async () => {
  using scratch = scratchFolder();
  const { file, released } = watched(scratch.path);
  file.fail(new FileFault(scratch.path, "failing"));
  rmSync(scratch.path);
  released.resolve();
  await expect.poll(() => tried(file)).toContain("was deleted or moved away while it was in use");
  expect(existsSync(scratch.path)).toBe(false);
  file.close();
});

test("a file that failed keeps its log, for which the disk has to answer first, and is told of when it is back", async () => {
  using scratch = scratchFolder();
  const { file, released, told } = watched(scratch.path);
  confirm(file.open(), "a");
  file.fail(new FileFault(scratch.path, "failing"));
  expect(statSync(`${scratch.path}-wal`).size).toBeGreaterThan(0);
  released.resolve();
  await expect.poll(() => tried(file)).toBeUndefined();
  expect(file.open().statements.ids()).toEqual(["a"]);
  expect(told).toEqual(["the file is in use again"]);
  file.close();
});

test("a file that is not open is closed without a word", () => {
  using scratch = scratchFolder();
  const { file, told } = watched(scratch.path);
  file.fail(new FileFault(scratch.path, "failing"));
  file.close();
  expect(told).toEqual([]);
});

test("a file that was closed for good says so to whoever asks for it", () => {
  using scratch = scratchFolder();
  const options = { kind: NOTES, onDamage: "refuse", prepare: () => ({}), clock: systemClock, logger: silentLogger };
  const file = new RecoveringFile(scratch.path, { ...options, onDamage: "refuse" }, async () => {});
  file.close();
  expect(() => file.open()).toThrow(
    expect.objectContaining({ code: "UNAVAILABLE", message: `${scratch.path} is closed`, charged: false }),
  );
});

/** What asking for the file is refused with. */
function tried(file: RecoveringFile<unknown>): string | undefined {
  try {
    file.open();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
