import { closeSync, ftruncateSync, openSync } from "node:fs";
import { type LogFields, silentLogger, systemClock } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { Checkpointer, CheckpointResult } from "../../src/database/checkpointer.ts";
import { Checkpoints } from "../../src/database/checkpoints.ts";
import { type Connection, LOG_BYTES } from "../../src/database/connection.ts";
import { FileFault } from "../../src/database/file-fault.ts";
import { HangWatch } from "../../src/database/hang-watch.ts";
import { isSettled } from "./support/gate.ts";
import { scratchFolder } from "./support/notes.ts";

const PATH = "notes.db";
const WHOLE: CheckpointResult = { isWhole: true };

interface Made extends Disposable {
  readonly checkpoints: Checkpoints;
  readonly file: Connection;
  /** What was done, in turn; what is done between two groups is in brackets. */
  readonly done: string[];
  readonly told: LogFields[];
  readonly hang: HangWatch;
  /** Written pages that the log holds. */
  readonly pages: Map<number, number>;
  fault: FileFault | undefined;
  now: number;
  mayBegin: boolean;
  samples: boolean;
  opens: () => Promise<CheckpointResult>;
  runs: () => Promise<CheckpointResult>;
  resize(bytes: number): void;
  /** Resolves when nothing is going on. */
  idle(): Promise<void>;
}

/** What decides when there is a checkpoint, with a thread and a file that do what the test says. */
function made(): Made {
  const scratch = scratchFolder();
  const log = openSync(scratch.path, "w+");
  const resize = (bytes: number): void => ftruncateSync(log, bytes);
  resize(LOG_BYTES + 1);
  const done: string[] = [];
  const told: LogFields[] = [];
  const clock = { ...systemClock, monotonic: () => state.now };
  const hang = new HangWatch(PATH, clock);
  const commits = {
    get fault() {
      return state.fault;
    },
    async between(work: () => Promise<void>) {
      done.push("[");
      await work();
      done.push("]");
    },
  };
  const checkpointer = {
    open() {
      done.push("open");
      return state.opens();
    },
    run(pieces?: string) {
      done.push(pieces === undefined ? "run" : `run and read ${pieces}`);
      return state.runs();
    },
    async close() {
      done.push("close");
    },
  } as unknown as Checkpointer;
  const pages = new Map([[1, 1]]);
  const file = {
    log,
    logEnd: { pages },
    contents: {
      beginCheckpoint() {
        done.push("begin");
        return state.mayBegin;
      },
      sampling: () => (state.samples ? { pieces: "pieces" } : undefined),
      endCheckpoint: (sampling?: unknown, reading?: string) =>
        void done.push(`end${sampling === undefined ? "" : " sampled"}${reading === undefined ? "" : ` ${reading}`}`),
    },
  } as unknown as Connection;
  const logger = { ...silentLogger, warn: (_: string, fields?: LogFields) => void told.push(fields ?? {}) };
  const state: Made = {
    checkpoints: new Checkpoints(PATH, checkpointer, { commits, hang, clock, logger }),
    file,
    done,
    told,
    hang,
    pages,
    fault: undefined,
    now: 0,
    mayBegin: true,
    samples: true,
    opens: async () => ({ isWhole: false }),
    runs: async () => WHOLE,
    resize,
    async idle() {
      for (let turns = 0; turns < 30; turns++) await Promise.resolve();
    },
    [Symbol.dispose]() {
      closeSync(log);
      scratch[Symbol.dispose]();
    },
  };
  return state;
}

const ALL = ["[", "open", "]", "begin", "run", "[", "run and read pieces", "end sampled", "]"];

function commit(at: Made, groups: number): void {
  for (let group = 0; group < groups; group++) at.checkpoints.committed(at.file);
}

function failure(message: string): () => Promise<CheckpointResult> {
  return async () => ({ error: new Error(message) });
}

describe("a log that is full", () => {
  test("is brought into the file after eight groups: beside the writes, and then without them, with what was read", async () => {
    using at = made();
    at.runs = async () => ({ isWhole: true, reading: "read" as never });
    commit(at, 7);
    await at.idle();
    expect(at.done).toEqual([]);
    commit(at, 1);
    await at.idle();
    expect(at.done).toEqual([...ALL.slice(0, 7), "end sampled read", "]"]);
    expect(at.told).toEqual([]);
    commit(at, 7);
    await at.idle();
    expect(at.done).toHaveLength(ALL.length);
    commit(at, 1);
    await at.idle();
    expect(at.done).toHaveLength(2 * ALL.length);
  });

  test("is one that has outgrown its size: at that size it is left alone", async () => {
    using at = made();
    at.resize(LOG_BYTES);
    commit(at, 16);
    await at.idle();
    expect(at.done).toEqual([]);
  });

  test("is looked at with each group while the disk is full, and brought in once, as the log has no room to grow", async () => {
    using at = made();
    at.fault = new FileFault(PATH, "full");
    commit(at, 1);
    await at.idle();
    expect(at.done).toEqual(ALL.filter((step) => step !== "run"));
  });

  test("is looked at as always while the disk has another fault", async () => {
    using at = made();
    at.fault = new FileFault(PATH, "failing");
    commit(at, 7);
    await at.idle();
    expect(at.done).toEqual([]);
  });

  test("is brought in by one at a time", async () => {
    using at = made();
    const opened = Promise.withResolvers<CheckpointResult>();
    at.opens = () => opened.promise;
    commit(at, 40);
    at.checkpoints.refused(at.file);
    await at.idle();
    expect(at.done).toEqual(["[", "open"]);
    opened.resolve(WHOLE);
    await at.idle();
    expect(at.done).toEqual(ALL);
  });

  test("is brought in although the disk does not say what to read afterwards", async () => {
    using at = made();
    at.samples = false;
    commit(at, 8);
    await at.idle();
    expect(at.done).toEqual(["[", "open", "]", "begin", "run", "[", "run", "end", "]"]);
  });

  test("is left alone when somebody has written to the file: that would hide it", async () => {
    using at = made();
    at.mayBegin = false;
    commit(at, 8);
    await at.idle();
    expect(at.done).toEqual(["[", "open", "]", "begin"]);
    expect(at.told).toEqual([]);
  });

  test("keeps the disk from being taken for one that hangs only while nothing is written", async () => {
    using at = made();
    const first = Promise.withResolvers<CheckpointResult>();
    const second = Promise.withResolvers<CheckpointResult>();
    const results = [first.promise, second.promise];
    at.runs = () => results.shift() ?? Promise.resolve(WHOLE);
    commit(at, 8);
    await at.idle();
    at.now = 10_000;
    expect(at.hang.fault).toBeUndefined();
    first.resolve(WHOLE);
    await at.idle();
    at.now = 20_000;
    expect(at.hang.fault?.message).toContain("does not answer");
    second.resolve(WHOLE);
    await at.idle();
    expect(at.hang.fault).toBeUndefined();
  });
});

describe("a checkpoint that fails", () => {
  test.each<[string, (at: Made) => void, readonly string[]]>([
    ["as its thread cannot open the file", (at) => (at.opens = failure("no")), ["[", "open", "]"]],
    ["beside the writes", (at) => (at.runs = failure("no")), ["[", "open", "]", "begin", "run", "end"]],
    [
      "without them",
      (at) => {
        const results = [WHOLE, { error: new Error("no") }];
        at.runs = async () => results.shift() ?? WHOLE;
      },
      ALL,
    ],
  ])("%s is told, and tried again a second later", async (_, harm, steps) => {
    using at = made();
    harm(at);
    at.now = 5_000;
    commit(at, 8);
    await at.idle();
    expect(at.done).toEqual(steps);
    expect(at.told).toEqual([{ file: PATH, error: "no" }]);
    at.opens = async () => WHOLE;
    at.runs = async () => WHOLE;
    at.now = 5_999;
    commit(at, 8);
    at.checkpoints.refused(at.file);
    await at.idle();
    expect(at.done).toEqual(steps);
    at.now = 6_000;
    commit(at, 8);
    await at.idle();
    expect(at.done).toEqual([...steps, ...ALL]);
  });

  test("is told once for each reason, and again after one that did not", async () => {
    using at = made();
    const next = async (opens: Made["opens"]): Promise<void> => {
      at.now += 1_000;
      at.opens = opens;
      commit(at, 8);
      await at.idle();
    };
    for (const reason of ["a", "a", "b", "a"]) await next(failure(reason));
    expect(at.told.map(({ error }) => error)).toEqual(["a", "b", "a"]);
    await next(async () => WHOLE);
    await next(failure("a"));
    expect(at.told).toHaveLength(4);
  });
});

describe("a disk that had no room for a write", () => {
  test("has the log brought into the file, however little it holds, once a second", async () => {
    using at = made();
    at.resize(0);
    at.fault = new FileFault(PATH, "full");
    at.now = 3_000;
    at.checkpoints.refused(at.file);
    await at.idle();
    const steps = ALL.filter((step) => step !== "run");
    expect(at.done).toEqual(steps);
    at.now = 3_999;
    at.checkpoints.refused(at.file);
    await at.idle();
    expect(at.done).toEqual(steps);
    at.now = 4_000;
    at.checkpoints.refused(at.file);
    await at.idle();
    expect(at.done).toEqual([...steps, ...steps]);
  });

  test("gets none from a log that holds nothing which is not in the file", async () => {
    using at = made();
    at.pages.clear();
    at.checkpoints.refused(at.file);
    await at.idle();
    expect(at.done).toEqual([]);
  });
});

test("the thread is closed when the checkpoint that runs has ended", async () => {
  using at = made();
  const opened = Promise.withResolvers<CheckpointResult>();
  at.opens = () => opened.promise;
  commit(at, 8);
  const closed = at.checkpoints.close();
  expect(await isSettled(closed)).toBe(false);
  expect(at.done).toEqual(["[", "open"]);
  opened.resolve(WHOLE);
  await closed;
  expect(at.done).toEqual([...ALL, "close"]);
});
