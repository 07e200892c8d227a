import { PATIENCE } from "@bridge/tooling/patience";
import { copyFileSync, cpSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { type LogFields, silentLogger } from "@bridge/ports";
import { describe, expect, test, vi } from "vitest";
import { SyncGate } from "./support/gate.ts";
import { adding, Notes, NOTES, removing, scratchFolder } from "./support/notes.ts";
import { tickingClock } from "./support/ticking-clock.ts";

const DAMAGED = /the file is damaged: check the disk, and restore a copy .*while it is in use/;

type Harm = (path: string) => void;

/** What leaves the file and its log where they are. */
const TO_THE_LOG: readonly (readonly [how: string, harm: Harm])[] = [
  ["emptied", (path) => truncateSync(`${path}-wal`, 0)],
  ["cut off", (path) => truncateSync(`${path}-wal`, statSync(`${path}-wal`).size - 100)],
  ["wiped", (path) => writeFileSync(`${path}-wal`, Buffer.alloc(statSync(`${path}-wal`).size))],
  ["overwritten with another one", (path) => copyFileSync(`${path}-former`, `${path}-wal`)],
];
const TO_THE_FILE: readonly (readonly [how: string, harm: Harm])[] = [
  ["emptied", (path) => truncateSync(path, 0)],
  ["cut off", (path) => truncateSync(path, 4_096)],
  ["wiped", (path) => writeFileSync(path, Buffer.alloc(statSync(path).size))],
];

/** A file with notes in it and in its log, and a log of another time beside it. */
async function withNotes(scratch: { readonly path: string }, options: object = {}): Promise<Notes> {
  {
    await using former = new Notes({ path: scratch.path });
    for (let i = 0; i < 20; i++) await former.write(adding(`former ${i}`, 5_000));
    copyFileSync(`${scratch.path}-wal`, `${scratch.path}-former`);
  }
  const notes = new Notes({ path: scratch.path, ...options });
  for (const id of ["a", "b", "c"]) await notes.write(adding(id, 5_000));
  return notes;
}

describe.each([
  ["log", TO_THE_LOG],
  ["file", TO_THE_FILE],
] as const)("a %s that is harmed in its place while it is in use", (_part, harms) => {
  test.each(harms)("is known with the next look when nobody writes: %s", async (_, harm) => {
    using scratch = scratchFolder();
    const { clock, tick } = tickingClock();
    const errors: [string, LogFields | undefined][] = [];
    const logger = { ...silentLogger, error: (line: string, fields?: LogFields) => void errors.push([line, fields]) };
    await using notes = await withNotes(scratch, { logger, clock });
    tick();
    expect(notes.health().fault).toBeUndefined();
    harm(scratch.path);
    tick();
    expect(notes.health().fault).toMatch(DAMAGED);
    await expect(notes.write(adding("d"))).rejects.toThrow(DAMAGED);
    expect(() => notes.ids()).toThrow(DAMAGED);
    expect(errors).toMatchObject([["the file failed and is opened again", { file: scratch.path }]]);
  });

  test.each(harms)("is damaged for the next process, too: %s", async (_how, harm) => {
    using scratch = scratchFolder();
    {
      await using _ = await withNotes(scratch);
      harm(scratch.path);
    }
    expect(() => new Notes({ path: scratch.path })).toThrow(/damaged|is there and is no notes file/);
  });

  test.each(harms)("is set aside where that is wanted: %s", async (_, harm) => {
    using scratch = scratchFolder();
    const { clock, tick } = tickingClock();
    await using notes = await withNotes(scratch, { onDamage: "quarantine", clock });
    harm(scratch.path);
    await vi.waitFor(() => (tick(), expect(notes.health().setAside).toHaveLength(1)), PATIENCE);
    expect(notes.ids()).toEqual([]);
    expect(await notes.write(adding("new"))).toBe("new");
  });
});

test.each(TO_THE_LOG)("nothing is written behind a log that was %s", async (_, harm) => {
  using scratch = scratchFolder();
  await using notes = await withNotes(scratch);
  harm(scratch.path);
  await expect(notes.write(adding("d"))).rejects.toThrow(DAMAGED);
  await expect(notes.write(removing("a"))).rejects.toThrow(DAMAGED);
});

test.each(TO_THE_LOG)("nothing is confirmed when the log was %s while it was synced", async (_, harm) => {
  using scratch = scratchFolder();
  const gate = new SyncGate();
  const arrivals = Promise.all(Array.from({ length: 3 }, () => gate.pass()));
  const opening = withNotes(scratch, { sync: gate.sync });
  await arrivals;
  await using notes = await opening;
  const write = notes.write(adding("d"));
  await gate.arrival();
  harm(scratch.path);
  void gate.pass();
  await expect(write).rejects.toThrow(DAMAGED);
});

test("when SQLite is the first to meet a log that was cut off, its mark stays", async () => {
  using scratch = scratchFolder();
  using after = scratchFolder();
  const { clock, tick } = tickingClock();
  await using notes = await withNotes(scratch, { kind: { ...NOTES, cacheKib: 16 }, clock });
  for (let i = 0; i < 20; i++) await notes.write(adding(`${i}`, 5_000));
  truncateSync(`${scratch.path}-wal`, 5_000);
  expect(() => notes.ids()).toThrow(/the disk fails/);
  await vi.waitFor(() => (tick(), expect(notes.health().fault).toMatch(/damaged/)), PATIENCE);
  cpSync(scratch.folder, after.folder, { recursive: true });
  expect(() => new Notes({ path: after.path })).toThrow(/damaged/);
});

test("a log that grows, begins anew and is cut back by SQLite itself is not harmed", { timeout: 60_000 }, async () => {
  using scratch = scratchFolder();
  const errors: string[] = [];
  const logger = { ...silentLogger, error: (line: string) => void errors.push(line) };
  await using notes = new Notes({ path: scratch.path, logger });
  let largest = 0;
  let isCutBack = false;
  for (let i = 0; !isCutBack; i += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, j) => notes.write(adding(`${i + j}`, 65_536))));
    const { size } = statSync(`${scratch.path}-wal`);
    isCutBack = size < largest;
    largest = Math.max(largest, size);
    // Once a second it is looked at anyway.
    expect(notes.health().fault).toBeUndefined();
  }
  expect(errors).toEqual([]);
  expect(readFileSync(scratch.path).length).toBeGreaterThan(0);
});
