import { appendFileSync, cpSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { noBreakableDisk, breakableDisk, noSmallDisk, smallDisk } from "@bridge/tooling/faulty-disk";
import { runProgram } from "@bridge/tooling/test-program";
import { BridgeError, type LogFields, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { openDlq, type ScratchDlq, scratchFolder } from "./support/scratch-dlq.ts";

const { signal } = new AbortController();
const program = new URL("support/dlq-writer.ts", import.meta.url);
const ALL = { limit: 100_000, offset: 0 };

async function idsIn(store: ScratchDlq): Promise<readonly string[]> {
  return (await store.list({}, ALL, signal)).map(({ id }) => id);
}

test.each([1, 100, 1_500])(
  "a process that is killed leaves every entry that was put, after %i",
  async (lines) => {
    using scratch = scratchFolder();
    const { lines: put, code } = await runProgram({ program, args: [scratch.path] }, lines);
    expect(code).toBeNull();
    expect(put.length).toBeGreaterThanOrEqual(lines);
    await using store = openDlq(scratch.path);
    expect(await idsIn(store)).toEqual(expect.arrayContaining([...put]));
    for (const id of put.slice(-50)) {
      const number = Number(id.slice(1));
      expect(await store.get(id, signal)).toEqual(deadLetter(id, { failedAt: number }, number % 2_000));
    }
  },
  60_000,
);

test("a write that was torn at the end of the log takes no entry with it that was put", async () => {
  using scratch = scratchFolder();
  using crashed = scratchFolder();
  {
    await using store = openDlq(scratch.path);
    for (const id of ["a", "b"]) await store.put(deadLetter(id), signal);
    cpSync(scratch.folder, crashed.folder, { recursive: true });
  }
  const log = `${crashed.path}-wal`;
  appendFileSync(log, readFileSync(log).subarray(-4_120).subarray(0, 3_000));
  await using store = openDlq(crashed.path);
  expect(await idsIn(store)).toEqual(["a", "b"]);
});

test("a damaged file is set aside, loudly, and a new one begun", async () => {
  using scratch = scratchFolder();
  {
    await using store = openDlq(scratch.path);
    for (let i = 0; i < 50; i++) await store.put(deadLetter(`e${i}`, {}, 1_000), signal);
  }
  truncateSync(scratch.path, 30_000);
  const errors: [string, LogFields | undefined][] = [];
  const logger = { ...silentLogger, error: (line: string, fields?: LogFields) => void errors.push([line, fields]) };
  await using store = openDlq(scratch.path, { logger });
  expect(await idsIn(store)).toEqual([]);
  await store.put(deadLetter("new"), signal);
  expect(errors).toMatchObject([
    [expect.stringMatching(/damaged file was set aside/), { set_aside: expect.any(String) as string }],
  ]);
  const { setAside = [] } = store.health?.() ?? {};
  expect(setAside).toMatchObject([expect.stringMatching(/\.damaged-\w+$/)]);
  expect(store.acknowledgeDamage?.()).toEqual(setAside);
  expect(store.health?.().setAside).toEqual([]);
});

test.each<[string, (path: string) => void, RegExp]>([
  ["garbage", (path) => writeFileSync(path, Buffer.alloc(10_000, 0x5a)), /no DLQ file of the bridge/],
  ["an outbox's", (path) => setHeader(path, "application_id = 1114787672"), /no DLQ file of the bridge/],
  [
    "of an older build",
    (path) => setHeader(path, "user_version = 1"),
    /an older build \(schema 1, .*redrive or delete/,
  ],
  ["of a newer release", (path) => setHeader(path, "user_version = 99"), /newer release \(schema 99/],
])("a file that is %s is refused and not touched", async (_, change, refusal) => {
  using scratch = scratchFolder();
  await openDlq(scratch.path)[Symbol.asyncDispose]();
  change(scratch.path);
  const before = readFileSync(scratch.path);
  expect(() => openDlq(scratch.path)).toThrow(BridgeError);
  expect(() => openDlq(scratch.path)).toThrow(refusal);
  expect(readFileSync(scratch.path).equals(before)).toBe(true);
});

test("one process at a time", async () => {
  using scratch = scratchFolder();
  await using store = openDlq(scratch.path);
  expect(() => openDlq(scratch.path)).toThrow(`${scratch.path} is in use`);
  await store.put(deadLetter("a"), signal);
});

describe.skipIf(noSmallDisk)("a full disk (needs the right to mount)", () => {
  test("refuses entries as UNAVAILABLE, keeps what it has, and goes on when there is room", async () => {
    using disk = smallDisk(2_048);
    const ballast = join(disk.folder, "ballast");
    writeFileSync(ballast, Buffer.alloc(700 * 1024));
    await using store = openDlq(join(disk.folder, "dlq.db"));
    let put = 0;
    const fill = async (): Promise<void> => {
      for (;;) await store.put(deadLetter(`e${put++}`, { failedAt: put }, 20_000), signal);
    };
    await expect(fill()).rejects.toMatchObject({ code: "UNAVAILABLE", charged: false });
    expect(await store.count(1_000, signal)).toBe(put - 1);
    truncateSync(ballast, 0);
    await store.put(deadLetter("again"), signal);
    expect(await store.get("again", signal)).toEqual(deadLetter("again"));
    expect(await store.count(1_000, signal)).toBe(put);
  });
});

describe.skipIf(noBreakableDisk)("a disk that turns read-only (needs the right to mount)", () => {
  test("refuses entries as UNAVAILABLE", async () => {
    using disk = breakableDisk();
    await using store = openDlq(join(disk.folder, "dlq.db"));
    await store.put(deadLetter("a"), signal);
    disk.break();
    for (const id of ["b", "c"]) {
      await expect(store.put(deadLetter(id), signal)).rejects.toMatchObject({ code: "UNAVAILABLE", charged: false });
    }
  });
});

function setHeader(path: string, pragma: string): void {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = DELETE; PRAGMA ${pragma}`);
  db.close();
}
