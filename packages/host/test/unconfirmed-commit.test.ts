import { type ConfigHistoryEntry, type ConfigStore, type Probation, silentLogger, systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import { confirmRunning, tellUnconfirmed } from "../src/unconfirmed-commit.ts";

const SEAMS = { clock: systemClock, logger: silentLogger };
const ENTRY: ConfigHistoryEntry = { version: 4, committedAt: 1, actor: "alice", changes: [], pending: true };
const probation = (version: number): Probation => ({
  version,
  formerVersion: version - 1,
  confirmBy: 0,
  actor: "alice",
  routes: [],
});

/** A document of a file, of which another process has `tried` on probation. */
function fileOf(tried: Probation | undefined) {
  const entries: ConfigHistoryEntry[] = [ENTRY];
  const unused = (): never => {
    throw new Error("only the history and the probation are asked here");
  };
  const history: ConfigStore["history"] = {
    append: async (entry) => void entries.splice(0, 1, entry),
    list: async () => entries,
  };
  const probations = {
    begin: unused,
    find: unused,
    note: unused,
    end: unused,
    elsewhere: async () => tried && { probation: tried, orderly: false, runs: true },
  };
  const document = {
    source: "bridge.yaml",
    seen: undefined,
    load: unused,
    write: unused,
    restore: unused,
    watch: unused,
    [Symbol.asyncDispose]: async () => {},
  };
  const file: ConfigStore = { ...document, history, probations };
  return { entries, file };
}

test("a version that runs is noted as one that ran, unless another process tries it out: that one says what becomes of it", async () => {
  for (const [tried, pending] of [
    [undefined, undefined],
    [probation(5), undefined],
    [probation(4), true],
  ] as const) {
    const { entries, file } = fileOf(tried);
    await confirmRunning(file, 4, SEAMS);
    expect(entries.map((entry) => entry.pending)).toEqual([pending]);
  }
});

test("a start says that it is the first to run a version, unless another process tries that out", async () => {
  const told: string[] = [];
  const seams = { ...SEAMS, logger: { ...silentLogger, warn: (message: string) => void told.push(message) } };
  const { signal } = new AbortController();
  await tellUnconfirmed(fileOf(probation(4)).file, 4, seams, signal);
  expect(told).toEqual([]);
  await tellUnconfirmed(fileOf(undefined).file, 4, seams, signal);
  expect(told).toEqual([expect.stringContaining("a commit that did not get to its end")]);
});
