import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { BridgeError } from "@bridge/ports";
import { expect, onTestFinished, test } from "vitest";
import { type CommitTarget, GroupCommit } from "../../src/database/group-commit.ts";
import { LogEnd } from "../../src/database/log-end.ts";
import type { OpenedFile } from "../../src/database/open-or-create.ts";
import { isSettled, SyncGate } from "./support/gate.ts";
import { adding, Notes, type NoteStatements, removing, scratchFolder } from "./support/notes.ts";

test("writes of one turn share a transaction and a sync, and none is done before it", async () => {
  using scratch = scratchFolder();
  const gate = new SyncGate();
  await using notes = new Notes({ path: scratch.path, sync: gate.sync });
  const writes = Promise.all(["a", "b", "c"].map((id) => notes.write(adding(id))));
  await gate.arrival();
  expect(await isSettled(writes)).toBe(false);
  await gate.pass();
  expect(await writes).toEqual(["a", "b", "c"]);
  expect(gate.count).toBe(1);
});

test("what comes in during a sync waits for the next one, its own", async () => {
  using scratch = scratchFolder();
  const gate = new SyncGate();
  await using notes = new Notes({ path: scratch.path, sync: gate.sync });
  const first = notes.write(adding("first"));
  await gate.arrival();
  const second = Promise.all([notes.write(adding("second")), notes.write(adding("third"))]);
  await gate.pass();
  await first;
  await gate.arrival();
  expect(await isSettled(second)).toBe(false);
  await gate.pass();
  expect(await second).toEqual(["second", "third"]);
  expect(gate.count).toBe(2);
});

test("a job that fails fails alone", async () => {
  using scratch = scratchFolder();
  await using notes = new Notes({ path: scratch.path });
  const [before, twice, thrown, after] = await Promise.allSettled([
    notes.write(adding("a")),
    notes.write(adding("a")),
    notes.write({
      ...adding("b"),
      run(statements) {
        statements.add("b", new Uint8Array());
        throw new BridgeError("REJECTED", "no");
      },
    }),
    notes.write(adding("c")),
  ]);
  expect(before).toMatchObject({ status: "fulfilled" });
  expect(twice).toMatchObject({ status: "rejected", reason: { code: "INTERNAL" } });
  expect(thrown).toMatchObject({ status: "rejected", reason: { code: "REJECTED" } });
  expect(after).toMatchObject({ status: "fulfilled" });
  expect(notes.ids()).toEqual(["a", "c"]);
  expect(notes.writable).toBe(true);
});

test.each(["EIO", "ENOSPC", "ESTALE"])(
  "a sync that fails with %s settles nothing of its group; the file is opened again",
  async (code) => {
    using scratch = scratchFolder();
    const gate = new SyncGate();
    await using notes = new Notes({ path: scratch.path, sync: gate.sync });
    const kept = notes.write(adding("kept"));
    await gate.pass();
    await kept;
    const failed = Promise.allSettled([notes.write(adding("a")), notes.write(adding("b"))]);
    await gate.fail(code);
    const unavailable = { status: "rejected", reason: { code: "UNAVAILABLE", charged: false } };
    expect(await failed).toMatchObject([unavailable, unavailable]);
    expect(notes.writable).toBe(false);
    // May be there or not; saying it again is what callers do.
    const again = notes.write(removing("a"));
    await gate.pass();
    await again;
    expect(notes.writable).toBe(true);
    expect(notes.ids()).toContain("kept");
  },
);

test("finding 10.1: a group whose file fails during its sync is not done, though the sync went well", async () => {
  const db = new DatabaseSync(":memory:");
  onTestFinished(() => db.close());
  const gate = new SyncGate();
  const told: string[] = [];
  let open = true;
  using scratch = scratchFolder();
  const log = openSync(scratch.path, "w+");
  using _ = { [Symbol.dispose]: () => closeSync(log) };
  const file = { db, path: "notes.db", statements: {}, log, logEnd: new LogEnd(log) } as OpenedFile<object>;
  const target: CommitTarget<object> = {
    path: file.path,
    open: () => file,
    isOpen: () => open,
    refusal: () => undefined,
    displacement: () => undefined,
    committed: () => void told.push("committed"),
    full: () => void told.push("full"),
    failed: ({ fault }) => void told.push(fault),
  };
  const commits = new GroupCommit(target, gate.sync);
  const write = Promise.allSettled([
    commits.write({ frees: false, bytes: 1, run() {}, done: () => void told.push("done") }),
  ]);
  await gate.arrival();
  open = false;
  await gate.pass();
  expect(await write).toMatchObject([{ status: "rejected", reason: { code: "UNAVAILABLE", charged: false } }]);
  expect([told, commits.writable]).toEqual([["failing"], false]);
});

test("what is kept in memory of a file changes with the sync, before anybody can look", async () => {
  using scratch = scratchFolder();
  const gate = new SyncGate();
  await using notes = new Notes({ path: scratch.path, sync: gate.sync });
  const seen: string[] = [];
  const write = notes.write({ ...adding("a"), done: (id) => void seen.push(`${id} done`) });
  const told = write.then(() => seen.push("a told"));
  await gate.arrival();
  expect(seen).toEqual([]);
  await gate.pass();
  await told;
  const failing = notes.write({ ...adding("b"), done: () => void seen.push("never") });
  await gate.fail("EIO");
  await expect(failing).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(seen).toEqual(["a done", "a told"]);
});

test("what is written in one go is limited", async () => {
  using scratch = scratchFolder();
  const gate = new SyncGate();
  await using notes = new Notes({ path: scratch.path, sync: gate.sync });
  const large = Array.from({ length: 3 }, (_, i) => notes.write(adding(`large ${i}`, 1_500_000)));
  const small = Array.from({ length: 1_200 }, (_, i) => notes.write(adding(`small ${i}`)));
  for (let groups = 1; groups <= 3; groups++) {
    await gate.pass();
    await large[groups - 1];
  }
  // The third large one took as many small ones along as there was room for.
  await gate.pass();
  await Promise.all(small);
  expect(gate.count).toBe(4);
});

test("a disk that hangs lets only so much wait", async () => {
  using scratch = scratchFolder();
  const gate = new SyncGate();
  await using notes = new Notes({ path: scratch.path, sync: gate.sync });
  const first = notes.write(adding("first"));
  await gate.arrival();
  const waiting = Array.from({ length: 5 }, (_, i) => notes.write({ ...adding(`${i}`), bytes: 32 * 1024 * 1024 }));
  await expect(waiting[4]).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(waiting[4]).rejects.toThrow(/does not keep up/);
  for (let groups = 0; groups < 5; groups++) await gate.pass();
  await Promise.all([first, ...waiting.slice(0, 4)]);
});

test("a file that holds max_bytes takes only what makes room", async () => {
  using scratch = scratchFolder();
  await using notes = new Notes({ path: scratch.path, maxBytes: 200_000 });
  let count = 0;
  const fill = async (): Promise<void> => {
    for (;;) await notes.write(adding(`n${count++}`, 10_000));
  };
  await expect(fill()).rejects.toThrow(/holds max_bytes 200000: delete notes, or raise max_bytes/);
  expect(count).toBeGreaterThan(15);
  const both = Promise.allSettled([
    notes.write(adding("more")),
    notes.write(removing("n0")),
    notes.write(removing("n1")),
  ]);
  expect(await both).toMatchObject([{ status: "rejected" }, { status: "fulfilled" }, { status: "fulfilled" }]);
  expect(await notes.write(adding("more"))).toBe("more");
  expect(notes.writable).toBe(true);
});

test("closing writes what waits, and then refuses everything", async () => {
  using scratch = scratchFolder();
  const notes = new Notes({ path: scratch.path });
  const writes = Array.from({ length: 10 }, (_, i) => notes.write(adding(`${i}`)));
  const closed = notes[Symbol.asyncDispose]();
  await Promise.all(writes);
  await closed;
  await notes[Symbol.asyncDispose]();
  await expect(notes.write(adding("late"))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(() => notes.ids()).toThrow(BridgeError);
  await using again = new Notes({ path: scratch.path });
  expect(again.ids()).toHaveLength(10);
});

test("what has been written takes no room of what waits, however many that were", async () => {
  using scratch = scratchFolder();
  await using notes = new Notes({ path: scratch.path, sync: async () => {} });
  const nothing = { frees: true, bytes: 0, run: () => {} };
  // So many would fill all of it, if each left something behind.
  for (let i = 0; i < 270; i++) await Promise.all(Array.from({ length: 1_000 }, () => notes.write(nothing)));
  expect(await notes.write(adding("a"))).toBe("a");
});

test("what only looks has its place among the writes, and alone it needs no sync", async () => {
  using scratch = scratchFolder();
  const gate = new SyncGate();
  await using notes = new Notes({ path: scratch.path, sync: gate.sync });
  const looking = { frees: true, bytes: 0, looks: true, run: (statements: NoteStatements) => statements.ids() };
  const first = notes.write(adding("a"));
  await gate.arrival();
  const between = notes.write(looking);
  expect(await isSettled(between)).toBe(false);
  await gate.pass();
  expect(await first).toBe("a");
  expect(await between).toEqual(["a"]);
  expect(await notes.write(looking)).toEqual(["a"]);
  expect(gate.count).toBe(1);
  const both = Promise.all([notes.write(looking), notes.write(adding("b"))]);
  await gate.pass();
  expect(await both).toEqual([["a"], "b"]);
  expect(gate.count).toBe(2);
});
