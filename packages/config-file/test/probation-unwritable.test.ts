import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempDisposableSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { settleProbation } from "@bridge/config";
import { silentLogger, type StoredConfig, systemClock } from "@bridge/ports";
import { draftOf } from "../src/drafts.ts";
import { type ConfigFile, openConfigFile } from "../src/index.ts";
import { storesOf } from "./support/file-stores.ts";
import { trying } from "./support/trying.ts";

const NEVER = new AbortController().signal;
const UNAVAILABLE: unknown = expect.objectContaining({ kind: "unavailable" });

interface Obstacle {
  readonly name: string;
  readonly put: (path: string) => void;
  readonly remove: (path: string) => void;
  /** What the cause says. */
  readonly said: RegExp;
}

/** What keeps the former document from being stored again, and leaves the one that is tried out readable. */
const OBSTACLES: readonly Obstacle[] = [
  {
    name: "has a second name",
    put: (path) => linkSync(path, `${path}.other`),
    remove: (path) => rmSync(`${path}.other`),
    said: /hard link/,
  },
  {
    name: "may be written by nobody",
    put: (path) => chmodSync(path, 0o444),
    remove: (path) => chmodSync(path, 0o644),
    said: /cannot be written to/,
  },
  {
    name: "lies where no new file can be made",
    put: (path) => mkdirSync(join(draftOf(path), "in-the-way"), { recursive: true }),
    remove: (path) => rmSync(draftOf(path), { recursive: true }),
    said: /directory|EISDIR|EPERM/i,
  },
];

function stage(started?: Parameters<typeof trying>[1], at?: string) {
  const made = at === undefined ? mkdtempDisposableSync(join(tmpdir(), "bridge-unwritable-")) : undefined;
  const folder = at ?? made?.path ?? "";
  const trial = trying(folder, started);
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      trial.clock.advance(1_000);
      do {
        await trial.transactions.underWay?.catch(() => {});
        await new Promise(setImmediate);
      } while (trial.transactions.underWay !== undefined);
    }
  };
  return {
    ...trial,
    folder,
    pass,
    runs: () => trial.applied.at(-1)?.bridge.id,
    async [Symbol.asyncDispose]() {
      await trial[Symbol.asyncDispose]();
      made?.[Symbol.dispose]();
    },
  };
}

describe.each(OBSTACLES)("operators 7: a change on probation whose document $name", ({ put, remove, said }) => {
  it("is taken back at its end all the same: the former one runs at once, and is stored again when it can be", async () => {
    await using trial = stage();
    const { path, transactions, pass, runs, reverted, logged } = trial;
    const former = readFileSync(path);
    const version = await trial.tryOut({ bridge: { id: "plant-8" } });
    put(path);
    await pass(9);
    expect(transactions.withdrawn()).toBeUndefined();
    await pass(1);
    expect(runs()).toBe("plant-7");
    expect(readFileSync(path, "utf8")).toContain("plant-8");
    const told = transactions.withdrawn();
    expect(told).toMatch(/version 1 was taken back: the former version runs again, and is stored again when/);
    expect(told).toMatch(said);
    expect([transactions.probation()?.version, transactions.confirmable()]).toEqual([version, undefined]);
    expect(told).toMatch(/make room where the document lies, and let this process write it/);
    await expect(transactions.confirm(version)).rejects.toMatchObject({ reason: "reverted" });
    await expect(transactions.revert(version, "it does harm")).rejects.toEqual(UNAVAILABLE);
    await expect(transactions.open(60_000, NEVER)).rejects.toMatchObject({ reason: "probation", message: told });
    await pass(100);
    expect([runs(), reverted.length]).toEqual(["plant-7", 0]);
    remove(path);
    await pass(1);
    expect(readFileSync(path).equals(former)).toBe(true);
    expect([runs(), transactions.withdrawn(), transactions.probation()]).toEqual(["plant-7", undefined, undefined]);
    expect(reverted).toMatchObject([{ version, why: "not_confirmed" }]);
    expect(logged.filter((line) => line.includes("is taken back"))).toHaveLength(1);
    await expect(transactions.confirm(version)).rejects.toMatchObject({ reason: "reverted" });
  });

  it("is taken back at once by an operator: 503 until it is stored again, and the history says why", async () => {
    await using trial = stage();
    const { path, transactions, pass, runs, reverted } = trial;
    const version = await trial.tryOut({ bridge: { id: "plant-8" } });
    put(path);
    await expect(transactions.revert(version, "it does harm")).rejects.toEqual(UNAVAILABLE);
    expect(runs()).toBe("plant-7");
    await expect(transactions.confirm(version)).rejects.toMatchObject({ reason: "reverted" });
    remove(path);
    expect(await transactions.revert(version, "at last")).toEqual({ status: "rolled_back", version: 0 });
    expect(reverted).toMatchObject([{ why: "operator", detail: "it does harm" }]);
    await pass(1);
    expect(await trial.store.history.list(NEVER)).toMatchObject([{ version, reverted: { detail: "it does harm" } }]);
  });

  it("runs in nobody's name meanwhile: what is stored is not to be brought into force by whoever reads it again", async () => {
    await using trial = stage();
    const { path, store, transactions, pass } = trial;
    await trial.tryOut({ bridge: { id: "plant-8" } });
    const { revision = "" } = (await store.load(NEVER)) ?? {};
    expect(transactions.triesOver(revision)).toBe(false);
    put(path);
    await pass(10);
    expect(transactions.triesOver(revision)).toBe(true);
    remove(path);
    writeFileSync(path, "bridge: {id: theirs}\n");
    const theirs = (await store.load(NEVER))?.revision ?? "";
    expect(transactions.triesOver(theirs)).toBe(false);
    await pass(1);
    expect(transactions.withdrawn()).toBeUndefined();
    expect(readFileSync(path, "utf8")).toContain("theirs");
  });
});

const SEAMS = { clock: systemClock, logger: silentLogger, storesOf };

const FORMER = { bridge: { id: "plant-7", drain_timeout: "20s" } };

async function settledOn(store: ConfigFile) {
  return settleProbation(store, SEAMS, async (instead?: StoredConfig) => instead ?? store.load(NEVER));
}

/** What a start finds and runs that a crash ends. */
async function crashed(path: string) {
  await using store = openConfigFile(path);
  const { settled, configuration } = await settledOn(store);
  return { settled, runs: configuration?.document, history: await store.history.list(NEVER) };
}

describe.each(OBSTACLES)("operators 7: a start after a crash, and the document $name", ({ put, remove, said }) => {
  it("runs the former version all the same, at any number of starts, and stores it when it can be", async () => {
    await using trial = stage();
    const { path } = trial;
    const former = readFileSync(path);
    await trial.tryOut({ bridge: { id: "plant-8" } });
    // The process is gone, and with it what it held.
    await trial.store[Symbol.asyncDispose]();
    put(path);
    for (let start = 0; start < 2; start++) {
      expect(await crashed(path)).toMatchObject({
        runs: FORMER,
        settled: { takenBack: { probation: { version: 1 } }, reversal: { why: "process_ended" } },
        history: [{ version: 1, pending: true }],
      });
      expect(readFileSync(path, "utf8")).toContain("plant-8");
    }
    await using store = openConfigFile(path);
    const { settled } = await settledOn(store);
    await using next = stage({ store, settled }, trial.folder);
    const { transactions, reverted, pass } = next;
    const revision = (await store.load(NEVER))?.revision ?? "";
    expect(transactions.triesOver(revision)).toBe(true);
    expect(transactions.withdrawn()).toMatch(/version 1 was taken back: the former version runs again/);
    expect(transactions.withdrawn()).toMatch(said);
    await expect(transactions.confirm(1)).rejects.toMatchObject({ reason: "reverted" });
    await pass(3);
    expect(reverted).toEqual([]);
    remove(path);
    await pass(1);
    expect(readFileSync(path).equals(former)).toBe(true);
    expect([transactions.withdrawn(), transactions.probation()]).toEqual([undefined, undefined]);
    expect(reverted).toMatchObject([{ version: 1, why: "process_ended" }]);
    expect((await crashed(path)).settled).toBeUndefined();
  });
});

it("operators 7: the document is away at a start that has no room: the former version runs out of the note", async () => {
  await using trial = stage();
  const { path } = trial;
  await trial.tryOut({ bridge: { id: "plant-8" } });
  await trial.store[Symbol.asyncDispose]();
  rmSync(path);
  mkdirSync(join(draftOf(path), "in-the-way"), { recursive: true });
  expect(await crashed(path)).toMatchObject({ runs: FORMER, settled: { takenBack: { probation: { version: 1 } } } });
  rmSync(draftOf(path), { recursive: true });
  expect(await crashed(path)).toMatchObject({ runs: FORMER, settled: { reverted: { version: 1 } } });
});

it("operators 7: after an orderly end a change goes on though nothing can be noted", async () => {
  await using trial = stage();
  const { path } = trial;
  await trial.tryOut({ bridge: { id: "plant-8" } });
  await trial.transactions.suspend();
  await trial.store[Symbol.asyncDispose]();
  chmodSync(path, 0o444);
  const { settled, runs } = await crashed(path);
  expect([settled, runs]).toMatchObject([{ goesOn: { probation: { version: 1 } } }, { bridge: { id: "plant-8" } }]);
});

it("spec 4.9.8: an orderly end is noted without room, and so is the next start: a crash after that takes the change back", async () => {
  await using trial = stage();
  const { path, transactions } = trial;
  await trial.tryOut({ bridge: { id: "plant-8" } });
  NO_ROOM.put(path);
  await transactions.suspend();
  await trial.store[Symbol.asyncDispose]();
  expect(await crashed(path)).toMatchObject({
    runs: { bridge: { id: "plant-8" } },
    settled: { goesOn: { probation: { version: 1 } } },
  });
  const told = await crashed(path);
  expect(told).toMatchObject({ runs: FORMER, settled: { takenBack: {}, reversal: { why: "process_ended" } } });
});

/** What keeps the reason from being noted in a new file, too. */
const NO_ROOM: Obstacle = {
  name: "has a folder where no new file can be made at all",
  put: (path) =>
    [path, `${path}.probation`].forEach((file) => mkdirSync(join(draftOf(file), "in-the-way"), { recursive: true })),
  remove: (path) => [path, `${path}.probation`].forEach((file) => rmSync(draftOf(file), { recursive: true })),
  said: /./,
};

describe.each([...OBSTACLES, NO_ROOM])(
  "spec 4.9.8: a change whose time was up while its document $name",
  ({ put, remove }) => {
    it.each([["not_confirmed", undefined] as const, ["operator", "ü".repeat(500)] as const])(
      "is told by the start that stores the former one to have been taken back for that: %s",
      async (why, detail) => {
        await using trial = stage();
        const { path, transactions } = trial;
        const version = await trial.tryOut({ bridge: { id: "plant-8" } });
        put(path);
        if (detail === undefined) await trial.pass(10);
        else await expect(transactions.revert(version, detail)).rejects.toEqual(UNAVAILABLE);
        await trial.store[Symbol.asyncDispose]();
        for (let start = 0; start < 2; start++)
          expect(await crashed(path)).toMatchObject({ settled: { takenBack: {}, reversal: { why } } });
        remove(path);
        const reverted = { why, ...(detail !== undefined && { detail }) };
        expect(await crashed(path)).toMatchObject({
          runs: FORMER,
          settled: { reverted },
          history: [{ version, reverted }],
        });
      },
    );
  },
);

it("spec 4.9.8: a reason that was cut off as it was noted is none: the change is taken back all the same", async () => {
  await using trial = stage();
  const { path, pass } = trial;
  await trial.tryOut({ bridge: { id: "plant-8" } });
  linkSync(path, `${path}.other`);
  await pass(10);
  await trial.store[Symbol.asyncDispose]();
  const note = readFileSync(`${path}.probation`, "utf8");
  expect(note).toContain("not_confirmed");
  writeFileSync(`${path}.probation`, note.replace('not_confirmed"', " ".repeat('not_confirmed"'.length)));
  expect(await crashed(path)).toMatchObject({ settled: { takenBack: {}, reversal: { why: "process_ended" } } });
});

it("spec 4.9.8: a note that has no room keeps what it says", async () => {
  await using trial = stage();
  const { path, pass } = trial;
  await trial.tryOut({ bridge: { id: "plant-8" } });
  const [note = ""] = readFileSync(`${path}.probation`, "utf8").split("\n");
  writeFileSync(`${path}.probation`, note);
  linkSync(path, `${path}.other`);
  await pass(10);
  expect(readFileSync(`${path}.probation`, "utf8")).toBe(note);
});

const MOVES = "bridge: {id: plant-7}\nstores: {outbox: {type: file, options: {path: tried.db}}}\n";

describe.each([...OBSTACLES, NO_ROOM])(
  "spec 4.9.8: a change that moves a store is taken back while its document $name",
  ({ put, remove }) => {
    it.each([
      ["is in force again", 0, []],
      ["would leave messages behind", Number.POSITIVE_INFINITY, ["outbox"]],
      ["is in force again at the third look", 2, []],
    ] as const)(
      "when the former one %s, the starts after a crash tell of what may wait there, and of nothing else",
      async (_, refused, leftStores) => {
        await using trial = stage();
        const { path, pass, refusals } = trial;
        const { id } = await trial.transactions.open(60_000, NEVER);
        await trial.transactions.replace(id, MOVES, NEVER);
        const committed = await trial.transactions.commit(id, "alice", { withinMs: 10_000 });
        expect(committed).toMatchObject({ status: "probation", version: 1 });
        put(path);
        for (let look = 0; look < Math.min(refused, 9); look++) refusals.push(new Error("messages wait"));
        await pass(14);
        await trial.store[Symbol.asyncDispose]();
        for (let start = 0; start < 2; start++) {
          const { settled } = await crashed(path);
          const left = settled !== undefined && "takenBack" in settled ? settled.takenBack.left : "not taken back";
          expect(left === undefined ? [] : left).toEqual(
            leftStores.length === 0 ? [] : expect.objectContaining({ leftStores }),
          );
        }
        remove(path);
        const { settled } = await crashed(path);
        expect(settled).toMatchObject({ reverted: { version: 1, why: "not_confirmed" } });
        const names = readdirSync(`${path}.versions`);
        expect(names.filter((name) => name.includes(".left-"))).toHaveLength(leftStores.length);
      },
    );
  },
);
