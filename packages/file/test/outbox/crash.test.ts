import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noSmallDisk, smallDisk } from "@bridge/tooling/faulty-disk";
import { runProgram } from "@bridge/tooling/test-program";
import { type LogFields, type OutboxClaim, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { end, outboxRecord, ROUTE } from "./support/records.ts";
import { openOutbox, openScratchOutbox, scratchFolder } from "./support/scratch-outbox.ts";

const { signal } = new AbortController();
const program = new URL("support/outbox-worker.ts", import.meta.url);
const CLAIM = { ...ROUTE, limit: 1_000, loanMs: 60_000 };
const ALL = { limit: 100_000, offset: 0 };

function idsIn(lines: readonly string[], what: string): readonly string[] {
  return lines.flatMap((line) => (line.startsWith(`${what} `) ? [line.slice(what.length + 1)] : []));
}

test.each([1, 100, 2_000])(
  "a process that is killed loses no record and sends none again that it finished, after %i lines",
  async (lines) => {
    using scratch = scratchFolder();
    const { lines: said, code } = await runProgram({ program, args: [scratch.path] }, lines);
    expect(code).toBeNull();
    await using store = openOutbox(scratch.path);
    const pending = (await store.list({}, ALL, signal)).map(({ id }) => id);
    const finished = idsIn(said, "finished");
    for (const id of finished) expect(await store.status(id, signal)).toBe("done");
    const left = idsIn(said, "persisted").filter((id) => !finished.includes(id));
    for (const id of left) expect(await store.status(id, signal)).toBe(pending.includes(id) ? "pending" : "done");
    const lent: string[] = [];
    for (;;) {
      const claims = await store.claim(CLAIM, signal);
      if (claims.length === 0) break;
      lent.push(...claims.map(({ record }) => record.id));
    }
    expect(lent).toEqual(pending);
  },
  60_000,
);

test("a damaged file is refused, and nothing of it changed", async () => {
  using scratch = scratchFolder();
  await fill(scratch.path);
  truncateSync(scratch.path, 20_000);
  const before = readFileSync(scratch.path);
  expect(() => openOutbox(scratch.path)).toThrow(`${scratch.path}: the file is damaged`);
  expect(readFileSync(scratch.path).equals(before)).toBe(true);
});

test("a damaged file is set aside if that is wanted, loudly", async () => {
  using scratch = scratchFolder();
  await fill(scratch.path);
  truncateSync(scratch.path, 20_000);
  const errors: [string, LogFields | undefined][] = [];
  const logger = { ...silentLogger, error: (line: string, fields?: LogFields) => void errors.push([line, fields]) };
  await using store = openOutbox(scratch.path, { onCorrupt: "quarantine", logger });
  expect(await store.backlog(signal)).toEqual([]);
  expect(errors).toMatchObject([
    [expect.stringMatching(/damaged file was set aside/), { set_aside: expect.any(String) as string }],
  ]);
  expect(readdirSync(scratch.folder).some((name) => name.startsWith("outbox.db.damaged-"))).toBe(true);
  const { setAside = [] } = store.health?.() ?? {};
  expect(setAside).toHaveLength(1);
  expect(store.acknowledgeDamage?.()).toEqual(setAside);
  expect(store.health?.().setAside).toEqual([]);
});

async function fill(path: string): Promise<void> {
  await using store = openOutbox(path);
  for (let i = 0; i < 50; i++) await store.persist([outboxRecord(`r${i}`, {}, 1_000)], signal);
}

describe("a sync that fails", () => {
  test("settles nothing of its group, ends no loan, and is done again", async () => {
    let failing = false;
    const sync = async (): Promise<void> => {
      if (failing) throw Object.assign(new Error("EIO"), { code: "EIO", syscall: "fdatasync" });
    };
    await using store = openScratchOutbox({ sync });
    const records = ["a", "b", "c"].map((id) => outboxRecord(id, { orderingKey: "key" }));
    await store.persist(records.slice(0, 2), signal);
    const [claim, second] = await store.claim(CLAIM, signal);
    failing = true;
    const ended = store.finish([end(claim!, { kind: "done" })], signal);
    await expect(ended).rejects.toMatchObject({ code: "UNAVAILABLE", charged: false });
    // What cannot be ended is not lent.
    await expect(store.claim(CLAIM, signal)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    failing = false;
    const [third] = await store.persist(records.slice(2), signal);
    expect(third).toEqual({ kind: "persisted" });
    expect(await store.finish([end(claim!, { kind: "done" })], signal)).toEqual([true]);
    expect(await store.finish([end(second!, { kind: "retry", delayMs: 0, attempts: 1 })], signal)).toEqual([true]);
    expect(await store.status("a", signal)).toBe("done");
    const again = await store.claim(CLAIM, signal);
    expect(again.map(({ record, attempts }) => [record.id, attempts])).toEqual([
      ["b", 1],
      ["c", 0],
    ]);
    expect((await store.backlog(signal))[0]?.depth).toBe(2);
  });

  test("an end that is repeated while it is being written ends nothing twice, and the status tells of it", async () => {
    const held = Promise.withResolvers<void>();
    let slow = false;
    await using store = openScratchOutbox({
      sync: async () => {
        if (slow) await held.promise;
      },
    });
    await store.persist([outboxRecord("a")], signal);
    const [claim] = await store.claim(CLAIM, signal);
    slow = true;
    const given = new AbortController();
    const first = store.finish([end(claim!, { kind: "done" })], given.signal);
    given.abort(new Error("given up"));
    await expect(first).rejects.toThrow("given up");
    const second = store.finish([end(claim!, { kind: "done" })], signal);
    held.resolve();
    expect(await second).toEqual([false]);
    expect(await store.status("a", signal)).toBe("done");
  });

  test("a record that is not durable yet is not lent", async () => {
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let syncs = 0;
    const sync = async (): Promise<void> => {
      if (++syncs === 1) return;
      reached.resolve();
      await held.promise;
    };
    await using store = openScratchOutbox({ sync });
    await store.persist([outboxRecord("durable")], signal);
    const persisting = store.persist([outboxRecord("not yet")], signal);
    await reached.promise;
    expect(await store.claimOne("not yet", 1_000, signal)).toBeUndefined();
    expect((await store.claim(CLAIM, signal)).map(({ record }) => record.id)).toEqual(["durable"]);
    held.resolve();
    expect(await persisting).toEqual([{ kind: "persisted" }]);
    expect((await store.claim(CLAIM, signal)).map(({ record }) => record.id)).toEqual(["not yet"]);
  });
});

describe.skipIf(noSmallDisk)("a full disk (needs the right to mount)", () => {
  test("refuses records, lends nothing whose end could not be written, and goes on when there is room", async () => {
    using disk = smallDisk(2_048);
    const ballast = join(disk.folder, "ballast");
    await using store = openOutbox(join(disk.folder, "outbox.db"));
    writeFileSync(ballast, Buffer.alloc(600 * 1024));
    let persisted = 0;
    const persistOn = async (bytes: number): Promise<void> => {
      for (;;) {
        await store.persist([outboxRecord(`r${persisted}`, {}, bytes)], signal);
        persisted++;
      }
    };
    await expect(persistOn(20_000)).rejects.toMatchObject({ code: "UNAVAILABLE", charged: false });
    const lent: OutboxClaim[] = [];
    // What one write has no room for another may have, until not even the smallest has any.
    const claimOn = async (): Promise<void> => {
      for (;;) {
        await expect(persistOn(10)).rejects.toThrow(/the disk is full/);
        lent.push(...(await store.claim({ ...CLAIM, limit: 1 }, signal)));
      }
    };
    await expect(claimOn()).rejects.toThrow(/the disk is full: make room/);
    rmSync(ballast);
    lent.push(...(await store.claim(CLAIM, signal)));
    expect(lent).toHaveLength(persisted);
    const ends = lent.map((claim) => end(claim, { kind: "done" }));
    expect(await store.finish(ends, signal)).not.toContain(false);
    expect(await store.backlog(signal)).toEqual([]);
  });
});
