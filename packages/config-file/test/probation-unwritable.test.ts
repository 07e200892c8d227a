import { chmodSync, linkSync, mkdirSync, mkdtempDisposableSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { draftOf } from "../src/drafts.ts";
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

function stage() {
  const folder = mkdtempDisposableSync(join(tmpdir(), "bridge-unwritable-"));
  const trial = trying(folder.path);
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
    pass,
    runs: () => trial.applied.at(-1)?.bridge.id,
    async [Symbol.asyncDispose]() {
      await trial[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
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
