import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { BridgeError } from "@bridge/ports";
import { describe, expect, onTestFinished, test } from "vitest";
import { FileFault } from "../../src/database/file-fault.ts";
import { type CommitTarget, GroupCommit, isFull } from "../../src/database/group-commit.ts";
import { LogEnd } from "../../src/database/log-end.ts";
import type { OpenedFile } from "../../src/database/open-or-create.ts";
import type { Job } from "../../src/database/transaction.ts";
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
    measured: (write) => write(),
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
  // 128 MiB to the byte: half a KiB is what each takes besides.
  const bytes = 32 * 1024 * 1024 - 512;
  const waiting = Array.from({ length: 5 }, (_, i) => notes.write({ ...adding(`${i}`), bytes }));
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
  expect(notes.health()).toEqual({ fault: `${scratch.path} is closed`, setAside: [] });
  await using again = new Notes({ path: scratch.path });
  expect(again.ids()).toHaveLength(10);
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

describe("a group, of which the file is told", () => {
  interface Told extends Disposable {
    readonly commits: GroupCommit<object>;
    readonly told: string[];
    /** Of the file, at the moment. */
    open: boolean;
    refusal: BridgeError | undefined;
    displacement: BridgeError | undefined;
    opening: Error | undefined;
    syncs: number;
    sync: () => Promise<void>;
  }

  /** What commits to a file in memory, and is told by it what the test says. */
  function told(): Told {
    const scratch = scratchFolder();
    const log = openSync(scratch.path, "w+");
    const db = new DatabaseSync(":memory:");
    const file = { db, path: "notes.db", statements: {}, log, logEnd: new LogEnd(log) } as OpenedFile<object>;
    const lines: string[] = [];
    const target: CommitTarget<object> = {
      path: file.path,
      open: () => {
        if (state.opening !== undefined) throw state.opening;
        return file;
      },
      isOpen: () => state.open,
      refusal: () => state.refusal,
      displacement: () => state.displacement,
      measured: (write) => write(),
      committed: (each) => void lines.push(each === file ? "committed" : "committed another file"),
      full: () => void lines.push("full"),
      failed: ({ fault }) => void lines.push(fault),
    };
    const state: Told = {
      commits: new GroupCommit(target, (handle) => {
        expect(handle).toBe(log);
        state.syncs++;
        return state.sync();
      }),
      told: lines,
      open: true,
      refusal: undefined,
      displacement: undefined,
      opening: undefined,
      syncs: 0,
      sync: () => Promise.resolve(),
      [Symbol.dispose]() {
        db.close();
        closeSync(log);
        scratch[Symbol.dispose]();
      },
    };
    return state;
  }

  const away = new BridgeError("UNAVAILABLE", "not in its place", { charged: false });
  const full = (): FileFault => new FileFault("notes.db", "full");
  const job = (kind: Partial<Job<object, string>> = {}): Job<object, string> => ({
    frees: false,
    bytes: 1,
    run: () => "done",
    ...kind,
  });
  const failing = (thrown: unknown, kind: Partial<Job<object, string>> = {}): Job<object, string> =>
    job({
      run() {
        throw thrown;
      },
      ...kind,
    });

  test("is committed when it is durable", async () => {
    using at = told();
    expect(await at.commits.write(job())).toBe("done");
    expect([at.told, at.syncs, at.commits.writable, at.commits.fault]).toEqual([["committed"], 1, true, undefined]);
  });

  test.each<[string, Error, string[]]>([
    ["is damaged", new FileFault("notes.db", "damaged"), ["damaged"]],
    ["is full", full(), ["full"]],
    ["is locked by another program", new FileFault("notes.db", "busy"), []],
    ["is at no fault, but cannot be used", away, []],
  ])("whose file %s is refused, and says so; that is over with the next one", async (_, thrown, lines) => {
    using at = told();
    at.opening = thrown;
    await expect(at.commits.write(job())).rejects.toBe(thrown);
    expect([at.told, at.syncs, at.commits.writable]).toEqual([lines, 0, false]);
    expect(at.commits.fault).toBe(thrown);
    at.opening = undefined;
    await at.commits.write(job());
    expect([at.commits.writable, at.commits.fault]).toEqual([true, undefined]);
  });

  test("that was refused for a mistake of this program is a BridgeError all the same", async () => {
    using at = told();
    at.opening = new TypeError("no");
    await expect(at.commits.write(job())).rejects.toMatchObject({ code: "INTERNAL" });
    expect(at.told).toEqual([]);
  });

  test("that the file takes no new data of is not synced when nothing of it makes room", async () => {
    using at = told();
    at.refusal = away;
    await expect(at.commits.write(job())).rejects.toBe(away);
    expect([at.syncs, at.told, at.commits.writable]).toEqual([0, [], true]);
    const both = Promise.allSettled([at.commits.write(job()), at.commits.write(job({ frees: true }))]);
    expect(await both).toMatchObject([
      { status: "rejected", reason: away },
      { status: "fulfilled", value: "done" },
    ]);
    expect([at.syncs, at.told, at.commits.writable]).toEqual([1, ["committed"], true]);
  });

  test("that a full disk takes no new data of makes the store unwritable, until one is written", async () => {
    using at = told();
    at.refusal = full();
    await expect(at.commits.write(job())).rejects.toBe(at.refusal);
    expect([at.commits.writable, at.told]).toEqual([false, ["full"]]);
    expect(at.commits.fault).toBe(at.refusal);
    // What makes room says nothing of what needs some.
    await at.commits.write(job({ frees: true }));
    expect(at.commits.fault).toBe(at.refusal);
    expect(at.commits.writable).toBe(true);
    at.refusal = undefined;
    await at.commits.write(job({ frees: true }));
    expect(isFull(at.commits.fault)).toBe(true);
    await at.commits.write(job());
    expect(at.commits.fault).toBeUndefined();
  });

  test("that only looks says nothing of the disk, and needs no sync", async () => {
    using at = told();
    at.opening = new FileFault("notes.db", "failing");
    await expect(at.commits.write(job())).rejects.toThrow("fails");
    at.opening = undefined;
    await at.commits.write(job({ looks: true, frees: true }));
    expect([at.syncs, at.commits.writable]).toEqual([0, false]);
    expect(at.commits.fault).toMatchObject({ fault: "failing" });
    // Of a disk that was not full, what makes room is as good as anything else.
    await at.commits.write(job({ frees: true }));
    expect([at.syncs, at.commits.writable, at.commits.fault]).toEqual([1, true, undefined]);
  });

  test("of which nothing was done needs no sync", async () => {
    using at = told();
    await expect(at.commits.write(failing(new BridgeError("REJECTED", "no")))).rejects.toMatchObject({
      code: "REJECTED",
    });
    expect([at.syncs, at.told, at.commits.fault]).toEqual([0, [], undefined]);
    await expect(at.commits.write(failing("no error"))).rejects.toMatchObject({ code: "INTERNAL" });
  });

  test("of which a job has no room on the disk says so, while the rest is written", async () => {
    using at = told();
    const both = Promise.allSettled([at.commits.write(failing(full())), at.commits.write(job({ frees: true }))]);
    expect(await both).toMatchObject([{ status: "rejected", reason: { fault: "full" } }, { status: "fulfilled" }]);
    expect(at.told).toEqual(["committed", "full"]);
    expect([isFull(at.commits.fault), at.commits.writable]).toEqual([true, true]);
  });

  test("whose file is not in its place any more is done, and counts only where it makes room", async () => {
    using at = told();
    at.displacement = away;
    const done: string[] = [];
    const both = Promise.allSettled([
      at.commits.write(job({ done: (value) => void done.push(value) })),
      at.commits.write(job({ frees: true, run: () => "room" })),
      at.commits.write(failing(new BridgeError("REJECTED", "no"))),
    ]);
    expect(await both).toMatchObject([
      { status: "rejected", reason: away },
      { status: "fulfilled", value: "room" },
      { status: "rejected", reason: { code: "REJECTED" } },
    ]);
    expect([done, at.told, at.commits.writable]).toEqual([["done"], ["committed"], true]);
  });

  test("of refused jobs alone says nothing of a disk that was at fault", async () => {
    using at = told();
    at.opening = new FileFault("notes.db", "failing");
    await expect(at.commits.write(job())).rejects.toThrow("fails");
    at.opening = undefined;
    at.displacement = away;
    await expect(at.commits.write(job())).rejects.toBe(away);
    expect(at.commits.fault).toMatchObject({ fault: "failing" });
  });

  test("whose file has to be opened again is not done", async () => {
    using at = told();
    at.displacement = new FileFault("notes.db", "disturbed");
    await expect(at.commits.write(job({ done: () => expect.unreachable() }))).rejects.toBe(at.displacement);
    expect([at.told, at.commits.writable]).toEqual([["disturbed"], false]);
    expect(at.commits.fault).toBe(at.displacement);
  });

  test("whose sync fails for an unknown reason is at the fault of the disk", async () => {
    using at = told();
    const cause = new Error("no reason");
    at.sync = () => Promise.reject(cause);
    await expect(at.commits.write(job())).rejects.toMatchObject({ fault: "failing", cause });
    expect([at.told, at.commits.writable]).toEqual([["failing"], false]);
  });

  test("waits for what is done between two of them, which waits for the one before; also when that fails", async () => {
    using at = told();
    const gate = new SyncGate();
    at.sync = () => gate.sync(0);
    const first = at.commits.write(job());
    await gate.arrival();
    const work = Promise.withResolvers<void>();
    const seen: string[] = [];
    const between = at.commits.between(() => {
      seen.push("between");
      return work.promise;
    });
    const second = at.commits.write(job());
    expect(await isSettled(between)).toBe(false);
    expect(seen).toEqual([]);
    await gate.pass();
    await first;
    expect(await isSettled(second)).toBe(false);
    expect([seen, at.syncs]).toEqual([["between"], 1]);
    work.reject(new Error("no"));
    await expect(between).rejects.toThrow("no");
    await gate.pass();
    expect(await second).toBe("done");
    // With nothing to wait for it begins at once.
    await at.commits.between(async () => void seen.push("again"));
    expect(seen).toEqual(["between", "again"]);
  });

  test("is waited for when all has to be written, and so are those after it", async () => {
    using at = told();
    await at.commits.drained();
    const gate = new SyncGate();
    at.sync = () => gate.sync(0);
    const first = at.commits.write(job());
    await gate.arrival();
    const second = at.commits.write(job());
    const drained = at.commits.drained();
    await gate.pass();
    await first;
    expect(await isSettled(drained)).toBe(false);
    await gate.pass();
    await second;
    await drained;
    expect(at.syncs).toBe(2);
  });

  test.each<[string, number, number, number]>([
    ["of 1000 jobs, and no more", 1_001, 0, 2],
    ["of 1000 jobs at once", 1_000, 0, 1],
    ["of 2 MiB, and no more", 3, 1024 * 1024, 2],
    ["of 2 MiB at once", 2, 1024 * 1024, 1],
    ["of one job that is larger", 2, 2 * 1024 * 1024 + 1, 2],
  ])("takes what waits: %s", async (_, count, bytes, groups) => {
    using at = told();
    await Promise.all(Array.from({ length: count }, () => at.commits.write(job({ bytes }))));
    expect(at.syncs).toBe(groups);
  });

  test("that hangs lets 128 MiB wait behind it, with what each job takes itself, and has their room again when it is done", async () => {
    using at = told();
    const gate = new SyncGate();
    at.sync = () => gate.sync(0);
    const first = at.commits.write(job());
    await gate.arrival();
    const limit = 128 * 1024 * 1024;
    const all = at.commits.write(job({ bytes: limit - 512 - 1 }));
    const last = at.commits.write(job());
    const refused = {
      code: "UNAVAILABLE",
      charged: false,
      message: expect.stringContaining("notes.db: the disk does not") as string,
    };
    await expect(at.commits.write(job())).rejects.toMatchObject(refused);
    at.sync = () => Promise.resolve();
    await gate.pass();
    await Promise.all([first, all, last]);
    at.sync = () => gate.sync(0);
    const next = at.commits.write(job());
    await gate.arrival();
    const again = [at.commits.write(job({ bytes: limit - 512 - 1 })), at.commits.write(job())];
    await expect(at.commits.write(job())).rejects.toMatchObject(refused);
    at.sync = () => Promise.resolve();
    await gate.pass();
    await Promise.all([next, ...again]);
  });
});
