import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settleProbation } from "@bridge/config";
import { type Logger, type Probation, silentLogger, type StoredConfig, systemClock } from "@bridge/ports";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openConfigFile } from "../src/index.ts";
import { trying } from "./support/trying.ts";

/** What a configuration on probation leaves behind, whatever has happened to it meanwhile: nothing of it is forgotten. @module */

const NEVER = new AbortController().signal;
const FORMER =
  "# ours\nconfig_version: 41\nbridge: {id: plant-7}\nstores: {dlq: {type: file, options: {path: dlq.db}}}\n";
const CHANGES = {
  "a change that moves the DLQ": { stores: { dlq: { type: "file", options: { path: "dlq2.db" } } } },
  "a change that moves nothing": {
    bridge: { id: "plant-8" },
    stores: { dlq: { type: "file", options: { path: "dlq.db" } } },
  },
} as const;
const probation: Probation = { version: 42, formerVersion: 41, confirmBy: 0, actor: "alice", routes: [] };
const REVERSAL = { why: "level", detail: "below full" };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bridge-left-"));
  path = join(folder, "bridge.yaml");
  writeFileSync(path, FORMER);
});
afterEach(() => rmSync(folder, { recursive: true }));

type End = "is killed" | "ends in order" | "is killed while it takes it back" | "is killed when it has taken it back";

/** A process tries the change out, and ends; resolves to what it has stored. */
async function left(change: Readonly<Record<string, unknown>>, end: End): Promise<string> {
  await using store = openConfigFile(path);
  const stored = await store.load(NEVER);
  if (stored === undefined) throw new Error("there is nothing");
  await store.history.append({ version: 42, committedAt: 1, actor: "alice", changes: [], pending: true }, NEVER);
  const current = await store.probations.begin(change, stored, probation, NEVER);
  if (current === undefined) throw new Error("it was not begun");
  const tried = readFileSync(path, "utf8");
  if (end === "ends in order") await store.probations.note({ probation, orderly: true }, NEVER);
  if (end.includes("back")) await store.probations.note({ probation, orderly: false, reversal: REVERSAL }, NEVER);
  if (end === "is killed when it has taken it back") await store.restore(stored, current, NEVER);
  return tried;
}

async function nextStart() {
  const logged: string[] = [];
  const log = (...line: unknown[]): void => void logged.push(JSON.stringify(line));
  const logger: Logger = { ...silentLogger, warn: log, error: log };
  const store = openConfigFile(path);
  /** What is of no use, or cannot be read, is refused. */
  const read = async (instead?: StoredConfig): Promise<StoredConfig | undefined> => {
    const stored = instead ?? (await store.load(NEVER).catch(() => undefined));
    return JSON.stringify(stored?.document).includes("soon") ? undefined : stored;
  };
  const { settled, configuration } = await settleProbation(store, { clock: systemClock, logger }, read);
  const stage = trying(folder, { store, settled });
  const { transactions } = stage;
  return {
    store,
    settled,
    logged: logged.join("\n"),
    runs: configuration?.version,
    told: transactions.leftBehind(),
    transactions,
    /** Whoever looks each 5 s has looked. */
    async looked(): Promise<void> {
      stage.clock.advance(5_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await transactions.underWay?.catch(() => {});
    },
    history: await transactions.history(NEVER),
    async [Symbol.asyncDispose]() {
      await transactions.suspend();
      await store[Symbol.asyncDispose]();
    },
  };
}

const DOCUMENTS = {
  "stays as it is": () => {},
  "is taken away": () => rmSync(path),
  "is emptied": () => writeFileSync(path, ""),
  "is put back": () => writeFileSync(path, FORMER),
} as const;
const ENDS: readonly End[] = [
  "is killed",
  "ends in order",
  "is killed while it takes it back",
  "is killed when it has taken it back",
];

/** No configuration: the former one runs, and nothing takes its place. */
const UNUSABLE = {
  "is broken": "{{{ nonsense",
  "is cut off": FORMER.slice(0, -3),
  "is made one that nobody can run": "bridge: {id: plant-7, drain_timeout: soon}\n",
};

describe.each(Object.entries(CHANGES))("%s", (name, change) => {
  const moves = name.endsWith("DLQ");
  /** Nothing of it is forgotten. */
  const expectKept = async (start: Awaited<ReturnType<typeof nextStart>>, tried: string): Promise<void> => {
    expect(existsSync(`${path}.probation`)).toBe(false);
    expect(start.logged).toContain('"config_version":42');
    expect(start.history).toMatchObject([{ version: 42, available: true, reverted: {} }]);
    expect(readFileSync(`${path}.versions/42.reverted.yaml`, "utf8")).toBe(tried);
    expect((await start.store.versions.load(42, NEVER))?.document).toMatchObject(change);
    if (!moves) return expect(start.told).toBeUndefined();
    expect(start.logged).toContain('"left_stores":"dlq"');
    expect(start.told).toMatch(/version 42 .*stores\.dlq at another place .*from_version: 42/);
  };

  describe.each(ENDS)("its process %s", (end) => {
    it.each(Object.entries(DOCUMENTS))("spec 4.9.8: and the document %s", async (what, happens) => {
      const tried = await left(change, end);
      happens();
      await using start = await nextStart();
      if (end === "ends in order" && what === "stays as it is") {
        expect([start.runs, start.told]).toEqual([42, undefined]);
        expect(start.settled).toHaveProperty("goesOn");
        return;
      }
      expect([start.runs, readFileSync(path, "utf8")]).toEqual([41, FORMER]);
      expect(start.settled).toMatchObject({ reverted: { version: 42, formerVersion: 41, actor: "alice" } });
      await expectKept(start, tried);
    });
  });

  it.each(ENDS.slice(0, 3))("spec 4.9.8: its process %s, and another hand stores something else", async (end) => {
    const tried = await left(change, end);
    writeFileSync(
      path,
      "config_version: 40\nbridge: {id: by-hand}\nstores: {dlq: {type: file, options: {path: dlq.db}}}\n",
    );
    await using start = await nextStart();
    expect(start.runs).toBe(40);
    expect(start.settled).toMatchObject({ reverted: { version: 42, formerVersion: 40, why: "process_ended" } });
    await expectKept(start, tried);
  });

  describe.each(ENDS.slice(0, 3))("its process %s", (end) => {
    it.each(Object.entries(UNUSABLE))(
      "spec 4.9.8: and the document %s: the former one runs, and nothing takes its place until it is in order",
      async (_, text) => {
        const tried = await left(change, end);
        writeFileSync(path, text);
        for (let n = 0; n < 2; n++) {
          await using start = await nextStart();
          expect([start.runs, readFileSync(path, "utf8"), existsSync(`${path}.probation`)]).toEqual([41, text, true]);
          expect(start.transactions.withdrawn()).toMatch(/version 42 was taken back: .*put the document in order/);
          expect(start.history).toMatchObject([{ version: 42, pending: true }]);
          expect(start.told === undefined).toBe(!moves);
        }
        rmSync(path);
        await using start = await nextStart();
        expect([start.runs, readFileSync(path, "utf8")]).toEqual([41, FORMER]);
        await expectKept(start, tried);
      },
    );
  });

  it.each(["stays", "is replaced"])(
    "spec 4.9.8: its version was confirmed, and an old note of it comes back: it %s, and nothing says that it was taken back",
    async (what) => {
      await left(change, "is killed");
      copyFileSync(`${path}.probation`, `${path}.old`);
      const entry = { committedAt: 1, actor: "alice", changes: [] };
      {
        await using store = openConfigFile(path);
        await store.history.append({ version: 42, ...entry }, NEVER);
        const stored = await store.load(NEVER);
        if (what === "is replaced" && stored !== undefined) {
          await store.write({ bridge: { id: "plant-9" } }, stored, NEVER);
          await store.history.append({ version: 43, ...entry }, NEVER);
        }
      }
      copyFileSync(`${path}.old`, `${path}.probation`);
      const stands = readFileSync(path, "utf8");
      await using start = await nextStart();
      expect([start.runs, start.settled, start.told]).toEqual([what === "stays" ? 42 : 43, undefined, undefined]);
      expect(start.logged).toContain("confirmed before");
      expect([readFileSync(path, "utf8"), existsSync(`${path}.probation`)]).toEqual([stands, false]);
      expect(start.history?.filter(({ reverted }) => reverted !== undefined)).toEqual([]);
    },
  );
});

it.each([
  ["is cut off", (note: string) => writeFileSync(note, readFileSync(note).subarray(0, 200))],
  ["is emptied", (note: string) => writeFileSync(note, "")],
  ["is junk", (note: string) => writeFileSync(note, Buffer.alloc(500))],
  [
    "is a folder",
    (note: string) => {
      rmSync(note);
      mkdirSync(note);
    },
  ],
])(
  "spec 4.9.8: a note that %s is told as long as it is there, and its version counts as pending",
  async (_, happens) => {
    await left(CHANGES["a change that moves the DLQ"], "is killed");
    const note = `${path}.probation`;
    happens(note);
    await using start = await nextStart();
    expect([start.runs, start.settled]).toEqual([42, undefined]);
    await start.looked();
    await expect
      .poll(() => start.transactions.leftElsewhere()?.told)
      .toMatch(/on probation is not known: .*bridge\.yaml\.probation: .*remove this file/);
    expect(start.history).toMatchObject([{ version: 42, pending: true }]);
    expect(existsSync(note)).toBe(true);
    rmSync(note, { recursive: true });
    await start.looked();
    await expect.poll(() => start.transactions.leftElsewhere()).toBeUndefined();
  },
);

it("spec 4.9.8: a folder where the lock of the note belongs is named, with the remedy", async () => {
  await left(CHANGES["a change that moves the DLQ"], "is killed");
  rmSync(`${path}.probation-lock`);
  mkdirSync(`${path}.probation-lock`);
  await using start = await nextStart();
  expect(start.runs).toBe(42);
  expect(start.logged).toMatch(/bridge\.yaml\.probation-lock is no file, .*: move it away/);
  await start.looked();
  await expect.poll(() => start.transactions.leftElsewhere()?.told).toContain("probation-lock is no file");
});
