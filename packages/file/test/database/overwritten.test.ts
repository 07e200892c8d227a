import { PATIENCE } from "@bridge/tooling/patience";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { type LogFields, silentLogger } from "@bridge/ports";
import { expect, test, vi } from "vitest";
import { diskSync } from "../../src/database/group-commit.ts";
import { SyncGate } from "./support/gate.ts";
import { adding, Notes, removing, scratchFolder } from "./support/notes.ts";
import { tickingClock } from "./support/ticking-clock.ts";

const OVER = /was (written over|cut off) while/;
const MEGABYTE = 1024 * 1024;
const PAGE = 4_096;

/** Writes until the log has been brought into the file, which changes at no other time. */
async function untilCheckpoint(notes: Notes, path: string, name: string): Promise<void> {
  const before = statSync(path, { bigint: true }).mtimeNs;
  for (let i = 0; statSync(path, { bigint: true }).mtimeNs === before; i++)
    await notes.write(adding(`${name} ${i}`, MEGABYTE));
  // It ends between two groups, and may not have begun the last of its two rounds.
  await vi.waitFor(async () => {
    await notes.write(adding(`${name} ${Math.random()}`));
    expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(8 * MEGABYTE);
  }, PATIENCE);
}

/** Overwrites in place: what has the file open has it still. */
function overwrite(from: string, to: string, pages?: readonly number[]): void {
  if (pages === undefined) return copyFileSync(from, to);
  const [source, target] = [openSync(from, "r"), openSync(to, "r+")];
  const page = Buffer.alloc(PAGE);
  for (const number of pages) {
    const read = readSync(source, page, 0, PAGE, (number - 1) * PAGE);
    writeSync(target, page, 0, read, (number - 1) * PAGE);
  }
  closeSync(source);
  closeSync(target);
}

function pagesOf(path: string): readonly number[] {
  return Array.from({ length: statSync(path).size / PAGE }, (_, at) => at + 1);
}

function sameTimes(from: string, to: string): void {
  const { atime, mtime } = statSync(from);
  utimesSync(to, atime, mtime);
}

/** The times of files advance by some milliseconds at once: a change within the same step as the one before shows in no time. */
async function untilTimesAdvance(path: string): Promise<void> {
  const { ctimeNs } = statSync(path, { bigint: true });
  const probe = `${path}-probe`;
  await vi.waitFor(() => {
    writeFileSync(probe, "");
    expect(statSync(probe, { bigint: true }).ctimeNs).toBeGreaterThan(ctimeNs);
  }, PATIENCE);
  rmSync(probe);
}

/** A file that a former process has left, and a copy of it, which is older than what this one has brought into the file. */
async function withOlderCopy(path: string, options: object): Promise<Notes> {
  {
    await using former = new Notes({ path });
    for (let i = 0; i < 20; i++) await former.write(adding(`former ${i}`, 5_000));
  }
  const copy = `${path}-copy`;
  copyFileSync(path, copy);
  const notes = new Notes({ path, ...options });
  await untilCheckpoint(notes, path, "later");
  sameTimes(path, copy);
  await untilTimesAdvance(path);
  return notes;
}

const TOUCHES: readonly ((path: string) => void)[] = [
  (path) => utimesSync(path, 1, 1),
  (path) => chmodSync(path, 0o640),
  (path) => overwrite(`${path}-same`, path, pagesOf(path)),
];

const WAYS: readonly (readonly [how: string, harm: (path: string) => void])[] = [
  ["cp", (path) => overwrite(`${path}-copy`, path)],
  ["cp -p", (path) => (overwrite(`${path}-copy`, path), sameTimes(`${path}-copy`, path))],
  ["rsync --inplace", (path) => overwrite(`${path}-copy`, path, pagesOf(`${path}-copy`))],
  ["truncate", (path) => truncateSync(path, statSync(`${path}-copy`).size)],
];

test.each(WAYS)("nothing is confirmed into a file that an older copy was put onto: %s", async (_, harm) => {
  using scratch = scratchFolder();
  const { path } = scratch;
  const errors: [string, LogFields | undefined][] = [];
  const logger = { ...silentLogger, error: (line: string, fields?: LogFields) => void errors.push([line, fields]) };
  // Nobody looks but before a group is confirmed.
  const { clock } = tickingClock();
  {
    await using notes = await withOlderCopy(path, { logger, clock });
    harm(path);
    await expect(notes.write(adding("lost"))).rejects.toMatchObject({ code: "UNAVAILABLE", charged: false });
    expect(notes.writable).toBe(false);
    expect(notes.health().fault).toMatch(OVER);
    await expect(notes.write(removing("lost"))).rejects.toThrow(OVER);
    expect(errors).toMatchObject([["the file failed and is opened again", { file: path }]]);
  }
  expect(() => new Notes({ path })).toThrow(/damaged.*was written over while a bridge had it in use/);
});

test.each(WAYS)("it is known with the next look when nobody writes: %s", async (_, harm) => {
  using scratch = scratchFolder();
  const { clock, tick } = tickingClock();
  await using notes = await withOlderCopy(scratch.path, { clock });
  for (let looks = 0; looks < 4; looks++) tick();
  expect(notes.health().fault).toBeUndefined();
  harm(scratch.path);
  tick();
  expect(notes.health().fault).toMatch(OVER);
});

test("it is set aside where that is wanted", async () => {
  using scratch = scratchFolder();
  const { clock, tick } = tickingClock();
  await using notes = await withOlderCopy(scratch.path, { clock, onDamage: "quarantine" });
  overwrite(`${scratch.path}-copy`, scratch.path);
  await vi.waitFor(() => (tick(), expect(notes.health().setAside).toHaveLength(1)), PATIENCE);
  expect(await notes.write(adding("new"))).toBe("new");
  expect(notes.ids()).toEqual(["new"]);
});

test("it is known at the next start when nobody has looked before the stop", async () => {
  using scratch = scratchFolder();
  {
    await using _ = await withOlderCopy(scratch.path, tickingClock());
    overwrite(`${scratch.path}-copy`, scratch.path);
  }
  expect(() => new Notes({ path: scratch.path })).toThrow(/damaged.*was written over/);
});

test("nothing is confirmed when the copy came while the group was synced", async () => {
  using scratch = scratchFolder();
  const gate = new SyncGate();
  let isGated = false;
  const sync = async (file: number): Promise<void> => (isGated ? gate.sync(file) : diskSync(file));
  await using notes = await withOlderCopy(scratch.path, { ...tickingClock(), sync });
  isGated = true;
  const write = notes.write(adding("lost"));
  await gate.arrival();
  overwrite(`${scratch.path}-copy`, scratch.path);
  void gate.pass();
  await expect(write).rejects.toThrow(OVER);
});

test("a file that was touched, or got its own content again, goes on", async () => {
  using scratch = scratchFolder();
  const { path } = scratch;
  const { clock, tick } = tickingClock();
  await using notes = await withOlderCopy(path, { clock });
  copyFileSync(path, `${path}-same`);
  for (const [at, touch] of TOUCHES.entries()) {
    touch(path);
    expect(await notes.write(adding(`a${at}`))).toBe(`a${at}`);
    touch(path);
    tick();
    expect(notes.health().fault).toBeUndefined();
  }
  await untilCheckpoint(notes, path, "again");
  expect(notes.health().fault).toBeUndefined();
});
