import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settleProbation } from "@bridge/config";
import { silentLogger, systemClock } from "@bridge/ports";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openConfigFile } from "../src/index.ts";
import { committing } from "./support/committing.ts";
import { triedElsewhere } from "./support/tried-elsewhere.ts";
import { trying } from "./support/trying.ts";

const NEVER = new AbortController().signal;
const FORMER = "# ours\nconfig_version: 41\nbridge: {id: plant-7} # here\n";
const SEAMS = { clock: systemClock, logger: silentLogger };

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "bridge-probation-"));
  path = join(folder, "bridge.yaml");
  writeFileSync(path, FORMER);
});
afterEach(() => rmSync(folder, { recursive: true }));

const note = (): string => `${path}.probation`;
const probation = { version: 42, formerVersion: 41, confirmBy: 0, actor: "alice", routes: [] };

/** What a process does that tries version 42 out. */
async function begun() {
  const store = openConfigFile(path);
  const stored = await store.load(NEVER);
  if (stored === undefined) throw new Error("there is nothing");
  const entry = { version: 42, committedAt: 1, actor: "alice", changes: [] };
  await store.history.append({ ...entry, pending: true }, NEVER);
  const written = await store.probations.begin({ bridge: { id: "plant-8" } }, stored, probation, NEVER);
  if (written === undefined) throw new Error("not written");
  return { store, stored, written };
}

/** What the next process finds, and makes of it. */
async function nextStart() {
  await using store = openConfigFile(path);
  const { settled, configuration: stored } = await settleProbation(store, SEAMS, () => store.load(NEVER));
  return { settled, stored, history: await store.history.list(NEVER) };
}

it("operators 7: what is on probation is noted for its owner only, with the former document to the byte", async () => {
  await begun();
  expect(statSync(note()).mode & 0o777).toBe(0o600);
  const { former } = JSON.parse(readFileSync(note(), "utf8")) as { former: { bytes: string } };
  expect(Buffer.from(former.bytes, "base64").toString()).toBe(FORMER);
});

it("operators 7: killed after the note, before the document is written: the former one runs, and the note is removed", async () => {
  await begun();
  const { tried: _, ...atFirst } = JSON.parse(readFileSync(note(), "utf8")) as { tried: unknown };
  writeFileSync(note(), JSON.stringify(atFirst));
  writeFileSync(path, FORMER);
  const { settled, stored, history } = await nextStart();
  expect([settled, stored?.version]).toEqual([undefined, 41]);
  expect(existsSync(note())).toBe(false);
  expect(history).toMatchObject([{ version: 42, pending: true }]);
});

it("operators 7: killed while it is on probation: the former one is put back byte for byte before anything starts", async () => {
  await begun();
  const { settled, history } = await nextStart();
  expect(settled).toMatchObject({ reverted: { version: 42, formerVersion: 41, why: "process_ended", actor: "alice" } });
  expect(readFileSync(path, "utf8")).toBe(FORMER);
  expect(history).toMatchObject([{ version: 42, reverted: { why: "process_ended" } }]);
  expect(existsSync(note())).toBe(false);
  expect(readdirSync(`${path}.versions`).toSorted()).toEqual(["41.yaml", "42.reverted.yaml"]);
  expect(await nextStart()).toMatchObject({ settled: undefined, stored: { version: 41 } });
});

it("operators 7: killed while it is taken back: that is finished, for the reason for which it was begun", async () => {
  const { store, stored, written } = await begun();
  const reversal = { why: "failure_ratio", detail: "12 of 96 sends failed" };
  await store.probations.note({ probation, orderly: false, reversal }, NEVER);
  const before = await nextStart();
  expect(before.settled).toMatchObject({ reverted: reversal });
  writeFileSync(path, readFileSync(path));
  const again = await begun();
  await again.store.probations.note({ probation, orderly: false, reversal }, NEVER);
  await again.store.restore(again.stored, again.written, NEVER);
  const after = await nextStart();
  expect(after.settled).toMatchObject({ reverted: reversal });
  expect(readFileSync(path, "utf8")).toBe(FORMER);
  expect(stored.version).toBeLessThan(written.version);
});

it("operators 7: after an orderly end it goes on with what is left, at least a minute, and a crash then takes it back", async () => {
  const { store } = await begun();
  await store.probations.note({ probation, orderly: true }, NEVER);
  const before = Date.now();
  const { settled, stored } = await nextStart();
  const { goesOn } = settled as { goesOn: { probation: { confirmBy: number }; base: { version: number } } };
  expect(goesOn.probation.confirmBy).toBeGreaterThanOrEqual(before + 60_000);
  expect([goesOn.base.version, stored?.version]).toEqual([41, 42]);
  expect((await nextStart()).settled).toMatchObject({ reverted: { why: "process_ended" } });
});

it.each([
  ["what it was to last", { withinMs: 5 * 60_000 }, 5 * 60_000],
  ["a minute, when it was to last less", { withinMs: 10_000 }, 60_000],
  ["an hour, when nobody has noted how long it was to last", {}, 60 * 60_000],
])("spec 4.9.8: a clock that was set back over an orderly end leaves it no more than %s", async (_, noted, mostMs) => {
  const { store } = await begun();
  const confirmBy = Date.now() + 2 * 60 * 60_000;
  await store.probations.note({ probation: { ...probation, ...noted, confirmBy }, orderly: true }, NEVER);
  const { settled } = await nextStart();
  const { goesOn } = settled as { goesOn: { probation: { confirmBy: number } } };
  const leftMs = goesOn.probation.confirmBy - Date.now();
  expect(leftMs).toBeLessThanOrEqual(mostMs);
  expect(leftMs).toBeGreaterThan(mostMs - 30_000);
});

it.each([
  ["is away", (file: string) => rmSync(file)],
  ["is empty", (file: string) => writeFileSync(file, "")],
])(
  "operators 7: the document %s at the next start: the former one is there before anything comes in its place",
  async (_, spoil) => {
    for (const orderly of [false, true]) {
      const { store } = await begun();
      await store.probations.note({ probation, orderly }, NEVER);
      spoil(path);
      const { settled, stored } = await nextStart();
      expect(settled).toMatchObject({ reverted: { version: 42, why: "process_ended" } });
      expect([stored?.version, readFileSync(path, "utf8"), existsSync(note())]).toEqual([41, FORMER, false]);
    }
  },
);

it("operators 7: why it was taken back is known after a restart, though the document was away", async () => {
  const { store } = await begun();
  rmSync(path);
  await store.probations.note({ probation, orderly: false, reversal: { why: "not_confirmed" } }, NEVER);
  expect((await nextStart()).settled).toMatchObject({ reverted: { why: "not_confirmed" } });
});

it("operators 7: a note that could not be read is settled when the document was, and what is put back is run", async () => {
  await begun();
  await using store = openConfigFile(path);
  vi.spyOn(store.probations, "find").mockRejectedValueOnce(new Error("input/output error"));
  const { settled, configuration } = await settleProbation(store, SEAMS, () => store.load(NEVER));
  expect(settled).toMatchObject({ reverted: { why: "process_ended" } });
  expect(configuration?.version).toBe(41);
});

it("operators 7: a note that cannot be read changes nothing, and stays to be looked at", async () => {
  await begun();
  writeFileSync(note(), '{"format": 2, "secret": "s3cret"}');
  const logged: unknown[] = [];
  await using store = openConfigFile(path);
  const logger = { ...silentLogger, error: (...line: unknown[]) => void logged.push(line) };
  const start = await settleProbation(store, { clock: systemClock, logger }, () => store.load(NEVER));
  expect(start).toMatchObject({ settled: undefined, configuration: { version: 42 } });
  expect(JSON.stringify(logged)).toContain("bridge.yaml.probation");
  expect(JSON.stringify(logged)).not.toContain("s3cret");
  expect(existsSync(note())).toBe(true);
});

it("operators 7: who confirms or reverts while the document is away is told what became of it, and what to do", async () => {
  await using stage = trying(folder);
  const version = await stage.tryOut({ bridge: { id: "plant-8" } });
  rmSync(stage.path);
  const told = (error: unknown): unknown => error;
  const confirmed: unknown = await stage.transactions.confirm(version).catch(told);
  expect(confirmed).toMatchObject({ kind: "unavailable" });
  expect(String(confirmed)).toMatch(/nothing was confirmed: .* is not there: put the document in order/);
  const reverted: unknown = await stage.transactions.revert(version, "it is too loud").catch(told);
  expect(reverted).toMatchObject({ kind: "unavailable" });
  expect(String(reverted)).toMatch(/the former version runs again, .* is not there: put the document in order/);
  expect(stage.applied.at(-1)?.configVersion).toBe(0);
  stage.clock.advance(1_000);
});

it("operators 7: the history has the version that is on probation also while the document is away or broken", async () => {
  await using stage = trying(folder);
  const version = await stage.tryOut({ bridge: { id: "plant-8" } });
  for (const spoil of [() => writeFileSync(stage.path, "broken: ["), () => rmSync(stage.path)]) {
    spoil();
    expect(await stage.transactions.history(NEVER)).toMatchObject([{ version, pending: true }]);
    stage.clock.advance(10_000);
    await stage.transactions.underWay?.catch(() => {});
    expect(await stage.transactions.history(NEVER)).toMatchObject([{ version, pending: true }]);
  }
});

it("operators 7: a former version that cannot be applied while the document is away is tried again at each look, and told once", async () => {
  await using stage = trying(folder);
  const version = await stage.tryOut({ bridge: { id: "plant-8" } });
  const document = readFileSync(stage.path);
  rmSync(stage.path);
  for (let n = 0; n < 4; n++) stage.refusals.push(new Error("the port is taken"));
  const look = async (ms: number): Promise<void> => {
    stage.clock.advance(ms);
    await new Promise(setImmediate);
    while (stage.transactions.underWay !== undefined) await stage.transactions.underWay.catch(() => {});
  };
  await look(10_000);
  const reverted: unknown = await stage.transactions.revert(version, "it is too loud").catch((error: unknown) => error);
  expect(String(reverted)).toMatch(
    /the former version cannot be applied \(the port is taken\): it is tried again each second/,
  );
  const before = stage.applied.length;
  for (let n = 0; n < 5; n++) await look(1_000);
  expect(stage.refusals).toEqual([]);
  // It runs, and is not applied again and again.
  expect(stage.applied.slice(before).map(({ configVersion }) => configVersion)).toEqual([0]);
  const count = (line: string) => stage.logged.filter((one) => one.startsWith(line)).length;
  expect(count("the former configuration cannot be applied: it is tried again")).toBe(1);
  expect(count("the former configuration runs again")).toBe(1);
  writeFileSync(stage.path, document);
  for (let n = 0; n < 3; n++) await look(1_000);
  expect(stage.reverted).toMatchObject([{ version, why: "not_confirmed" }]);
});

it("operators 7: what another process has on probation, which runs, is left alone, and is taken back when that one has ended", async () => {
  {
    await using _ = await triedElsewhere(path, probation);
    const tried = readFileSync(path, "utf8");
    expect(tried).toContain("plant-8");
    const told: unknown[] = [];
    const seams = { ...SEAMS, logger: { ...silentLogger, warn: (...line: unknown[]) => void told.push(line) } };
    await using store = openConfigFile(path);
    const { settled, configuration } = await settleProbation(store, seams, () => store.load(NEVER));
    expect([settled, configuration?.version]).toEqual([undefined, 42]);
    expect(JSON.stringify(told)).toContain("on probation in another process, which runs");
    expect([readFileSync(path, "utf8"), existsSync(note())]).toEqual([tried, true]);
  }
  expect((await nextStart()).settled).toMatchObject({ reverted: { version: 42, why: "process_ended" } });
  expect(readFileSync(path, "utf8")).toBe(FORMER);
});

it("operators 7: a version with its outbox elsewhere that is taken back at a start is told of until its outbox runs again: what came in is there", async () => {
  const former = "bridge: {id: plant-7}\nstores: {outbox: {type: file, options: {path: a.db}}}\n";
  writeFileSync(path, former);
  const first = openConfigFile(path);
  const stored = await first.load(NEVER);
  if (stored === undefined) throw new Error("there is nothing");
  const outbox = { type: "file", options: { path: "b.db" } };
  const tried = { version: 1, formerVersion: 0, confirmBy: 0, actor: "alice", routes: [] };
  await first.probations.begin({ bridge: { id: "plant-7" }, stores: { outbox } }, stored, tried, NEVER);
  const { settled } = await nextStart();
  expect(settled).toMatchObject({ reverted: { version: 1, leftStores: ["outbox"] } });
  expect(readFileSync(path, "utf8")).toBe(former);
  await using file = committing("bridge: {id: plant-7}\n", { settled });
  expect(file.transactions.leftBehind()).toMatch(/version 1 .* stores\.outbox at another place .*from_version: 1/);
  expect(await file.commit("bridge: {id: plant-8}\n")).toMatchObject({ status: "committed" });
  expect(file.transactions.leftBehind()).toMatch(/version 1 .* stores\.outbox at another place.*from_version: 1/);
  file.transactions.followed({ version: 3, revision: "3", document: { stores: { outbox } } });
  expect(file.transactions.leftBehind()).toBeUndefined();
});
