import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settleProbation } from "@bridge/config";
import { type Logger, type Probation, silentLogger, systemClock } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openConfigFile } from "../src/index.ts";
import { storesOf } from "./support/file-stores.ts";
import { triedElsewhere } from "./support/tried-elsewhere.ts";
import { trying } from "./support/trying.ts";

const NEVER = new AbortController().signal;
const FORMER = "# ours\nconfig_version: 41\nbridge: {id: plant-7} # here\n";
const LOOK_MS = 5_000;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bridge-left-beside-"));
  path = join(folder, "bridge.yaml");
  writeFileSync(path, FORMER);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A process that runs the file beside another one, which tries something out for ten seconds. */
async function pair() {
  const clock = new ManualClock();
  const withinMs = 10_000;
  const probation: Probation = {
    version: 42,
    formerVersion: 41,
    confirmBy: clock.now() + withinMs,
    withinMs,
    actor: "alice",
    routes: [],
  };
  const first = await triedElsewhere(path, probation);
  const other = trying(folder, { store: openConfigFile(path), settled: undefined }, clock);
  /** Whoever looks meanwhile has a moment for it. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000);
      await new Promise((resolve) => setTimeout(resolve, 10));
      await other.transactions.underWay?.catch(() => {});
    }
  };
  return {
    first,
    other,
    pass,
    async [Symbol.asyncDispose]() {
      await first.kill();
      await other.transactions.suspend();
      await other[Symbol.asyncDispose]();
    },
  };
}

const versions = (applied: readonly { readonly configVersion: number }[]): readonly number[] =>
  applied.map(({ configVersion }) => configVersion);

it("spec 4.9.8: a process that dies while another one runs the same file: that one takes the change back by itself", async () => {
  await using stage = await pair();
  const { first, other, pass } = stage;
  await pass(2 * LOOK_MS);
  expect([readFileSync(path, "utf8") === FORMER, other.applied]).toEqual([false, []]);
  await first.kill();
  await pass(LOOK_MS);
  await expect.poll(() => other.reverted).toHaveLength(1);
  expect([readFileSync(path, "utf8"), existsSync(`${path}.probation`)]).toEqual([FORMER, false]);
  expect(versions(other.applied)).toEqual([41]);
  expect(other.reverted).toMatchObject([{ version: 42, why: "process_ended", actor: "alice" }]);
  expect(await other.store.history.list(NEVER)).toMatchObject([{ version: 42, reverted: { why: "process_ended" } }]);
  expect(other.transactions.leftElsewhere()).toBeUndefined();
  await expect(other.transactions.confirm(42)).rejects.toMatchObject({ reason: "reverted" });
  expect(await other.tryOut({ bridge: { log_level: "debug" } })).toBe(43);
});

it.each(["dies", "ends in order"])(
  "spec 4.9.8: a process that %s, and another hand that replaces what it tried out: another process on the file tells it, once, and lets it stand",
  async (how) => {
    await using stage = await pair();
    const { first, other, pass } = stage;
    await (how === "dies" ? first.kill() : first.end());
    const byHand = "config_version: 40\nbridge: {id: by-hand}\n";
    writeFileSync(path, byHand);
    await pass(2 * LOOK_MS);
    await expect.poll(() => other.reverted).toHaveLength(1);
    await pass(2 * LOOK_MS);
    expect(other.reverted).toMatchObject([{ version: 42, formerVersion: 40, why: "process_ended", actor: "alice" }]);
    expect([readFileSync(path, "utf8"), existsSync(`${path}.probation`)]).toEqual([byHand, false]);
    expect(await other.store.history.list(NEVER)).toMatchObject([{ version: 42, reverted: { why: "process_ended" } }]);
    expect(other.logged).toEqual([expect.stringContaining("another hand has replaced")]);
  },
);

it("spec 4.9.8: a process that ends in order and does not come back: another one on the file takes the change back after a minute", async () => {
  await using stage = await pair();
  const { first, other, pass } = stage;
  await first.end();
  await pass(55_000);
  expect([readFileSync(path, "utf8") === FORMER, existsSync(`${path}.probation`)]).toEqual([false, true]);
  await pass(3 * LOOK_MS);
  await expect.poll(() => other.reverted).toHaveLength(1);
  expect([readFileSync(path, "utf8"), existsSync(`${path}.probation`)]).toEqual([FORMER, false]);
  expect(other.reverted).toMatchObject([{ version: 42, why: "not_confirmed" }]);
});

it("spec 4.9.8: a process that ends in order and comes back has its time, whoever runs the file beside it", async () => {
  await using stage = await pair();
  const { first, other, pass } = stage;
  await first.end();
  await pass(30_000);
  await using again = openConfigFile(path);
  const { settled } = await settleProbation(again, { clock: systemClock, logger: silentLogger, storesOf }, () =>
    again.load(NEVER),
  );
  expect(settled).toHaveProperty("goesOn");
  await pass(60_000);
  expect([existsSync(`${path}.probation`), other.reverted]).toEqual([true, []]);
});

it("spec 4.11.6: what was left on probation a minute beyond its end is told, as long as its process runs or cannot be told to have ended", async () => {
  await using stage = await pair();
  const { first, other, pass } = stage;
  await pass(60_000);
  expect(other.transactions.leftElsewhere()).toBeUndefined();
  await pass(15_000);
  await expect
    .poll(() => other.transactions.leftElsewhere()?.told)
    .toMatch(/version 42 of .* another process until .* revert it here/);
  const find = vi.spyOn(other.store.probations, "find").mockRejectedValue(new Error("input/output error"));
  await first.kill();
  await pass(2 * LOOK_MS);
  await expect
    .poll(() => other.transactions.leftElsewhere()?.told)
    .toContain("could not be taken back: input/output error");
  const line = /^what another process has left on probation cannot be taken back .*input\/output error/;
  expect(other.logged).toEqual([expect.stringMatching(line)]);
  find.mockRestore();
  await pass(LOOK_MS);
  await expect.poll(() => other.reverted).toHaveLength(1);
  await pass(LOOK_MS);
  await expect.poll(() => other.transactions.leftElsewhere()).toBeUndefined();
  expect(readFileSync(path, "utf8")).toBe(FORMER);
});

it("spec 4.9.8: what another process has left, and cannot be written back, runs no more, and is told", async () => {
  await using stage = await pair();
  const { first, other, pass } = stage;
  await first.kill();
  chmodSync(path, 0o444);
  await pass(LOOK_MS);
  await expect.poll(() => other.transactions.withdrawn()).toContain("cannot be written to");
  await expect.poll(() => versions(other.applied)).toEqual([41]);
  chmodSync(path, 0o644);
  await pass(2_000);
  await expect.poll(() => other.transactions.withdrawn()).toBeUndefined();
  expect(readFileSync(path, "utf8")).toBe(FORMER);
  expect(other.reverted).toMatchObject([{ why: "process_ended" }]);
});

it("spec 4.9.8: of several who take back what was left, one does, and the others are told", async () => {
  await using stage = await pair();
  const { first, other, pass } = stage;
  await first.kill();
  const reverting = Promise.allSettled(
    Array.from({ length: 3 }, () => other.transactions.revert(42, "its process is gone")),
  );
  await pass(LOOK_MS);
  const ends = await reverting;
  expect(ends.filter(({ status }) => status === "fulfilled").length).toBeLessThanOrEqual(1);
  expect(other.reverted).toHaveLength(1);
  expect(readFileSync(path, "utf8")).toBe(FORMER);
});

it("spec 4.9.8: another process on the file says one thing at its start: that what is stored is tried out elsewhere", async () => {
  await using _ = await pair();
  await using store = openConfigFile(path);
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const logger: Logger = { ...silentLogger, info: log, warn: log, error: log };
  const { settled, configuration } = await settleProbation(store, { clock: systemClock, logger, storesOf }, () =>
    store.load(NEVER),
  );
  expect([settled, configuration?.version]).toEqual([undefined, 42]);
  expect(logged).toEqual([expect.stringContaining("on probation in another process, which runs")]);
});
