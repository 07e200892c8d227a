import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settleProbation } from "@bridge/config";
import { type Logger, type Probation, silentLogger, systemClock } from "@bridge/ports";
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
  const { settled, configuration } = await settleProbation(store, { clock: systemClock, logger }, () =>
    store.load(NEVER),
  );
  const { transactions } = trying(folder, { store, settled });
  return {
    store,
    settled,
    logged: logged.join("\n"),
    runs: configuration?.version,
    told: transactions.leftBehind(),
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

describe.each(Object.entries(CHANGES))("%s", (name, change) => {
  const moves = name.endsWith("DLQ");
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
      expect(existsSync(`${path}.probation`)).toBe(false);
      expect(start.settled).toMatchObject({ reverted: { version: 42, formerVersion: 41, actor: "alice" } });
      expect(start.logged).toContain('"config_version":42');
      expect(start.history).toMatchObject([{ version: 42, available: true, reverted: {} }]);
      expect(readFileSync(`${path}.versions/42.reverted.yaml`, "utf8")).toBe(tried);
      expect((await start.store.versions.load(42, NEVER))?.document).toMatchObject(change);
      if (!moves) return expect(start.told).toBeUndefined();
      expect(start.logged).toContain('"left_stores":"dlq"');
      expect(start.told).toMatch(/version 42 .*stores\.dlq at another place .*from_version: 42/);
    });
  });
});
