import { PATIENCE } from "@bridge/tooling/patience";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { openConfigFile } from "../src/index.ts";
import { documentFolder } from "./support/document-folder.ts";
import { triedElsewhere } from "./support/tried-elsewhere.ts";
import { trying } from "./support/trying.ts";

const NEVER = new AbortController().signal;
const FORMER = "# ours\nconfig_version: 41\nbridge: {id: plant-7} # here\n";

const here = documentFolder(FORMER);
const { probation } = here;

/** What the next process finds, and makes of it. */
async function nextStart() {
  const start = await here.start();
  await start.store[Symbol.asyncDispose]();
  return start;
}

it("operators 7: what is on probation is noted for its owner only, with the former document to the byte", async () => {
  await here.begun();
  expect(statSync(here.note).mode & 0o777).toBe(0o600);
  const { former } = here.noted();
  expect(Buffer.from(former.bytes, "base64").toString()).toBe(FORMER);
});

it("operators 7: killed after the note, before the document is written: the former one runs, and the note is removed", async () => {
  await here.begun();
  writeFileSync(here.note, JSON.stringify(here.noted()));
  writeFileSync(here.path, FORMER);
  const { settled, stored, history } = await nextStart();
  expect([settled, stored?.version]).toEqual([undefined, 41]);
  expect(existsSync(here.note)).toBe(false);
  expect(history).toMatchObject([{ version: 42, pending: true }]);
});

it("operators 7: killed while it is on probation: the former one is put back byte for byte before anything starts", async () => {
  await here.begun();
  const { settled, history } = await nextStart();
  expect(settled).toMatchObject({ reverted: { version: 42, formerVersion: 41, why: "process_ended", actor: "alice" } });
  expect(readFileSync(here.path, "utf8")).toBe(FORMER);
  expect(history).toMatchObject([{ version: 42, reverted: { why: "process_ended" } }]);
  expect(existsSync(here.note)).toBe(false);
  expect(readdirSync(`${here.path}.versions`).toSorted()).toEqual(["41.yaml", "42.reverted.yaml"]);
  expect(await nextStart()).toMatchObject({ settled: undefined, stored: { version: 41 } });
});

it("operators 7: killed while it is taken back: that is finished, for the reason for which it was begun", async () => {
  const { store, stored, written } = await here.begun();
  const reversal = { why: "failure_ratio", detail: "12 of 96 sends failed" };
  await store.probations.note({ probation, orderly: false, reversal }, NEVER);
  const before = await nextStart();
  expect(before.settled).toMatchObject({ reverted: reversal });
  writeFileSync(here.path, readFileSync(here.path));
  const again = await here.begun();
  await again.store.probations.note({ probation, orderly: false, reversal }, NEVER);
  await again.store.restore(again.stored, again.written, NEVER);
  const after = await nextStart();
  expect(after.settled).toMatchObject({ reverted: reversal });
  expect(readFileSync(here.path, "utf8")).toBe(FORMER);
  expect(stored.version).toBeLessThan(written.version);
});

it("operators 7: after an orderly end it goes on with what is left, at least a minute, and a crash then takes it back", async () => {
  const { store } = await here.begun();
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
  const { store } = await here.begun();
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
      const { store } = await here.begun();
      await store.probations.note({ probation, orderly }, NEVER);
      spoil(here.path);
      const { settled, stored } = await nextStart();
      expect(settled).toMatchObject({ reverted: { version: 42, why: "process_ended" } });
      expect([stored?.version, readFileSync(here.path, "utf8"), existsSync(here.note)]).toEqual([41, FORMER, false]);
    }
  },
);

it("operators 7: why it was taken back is known after a restart, though the document was away", async () => {
  const { store } = await here.begun();
  rmSync(here.path);
  await store.probations.note({ probation, orderly: false, reversal: { why: "not_confirmed" } }, NEVER);
  expect((await nextStart()).settled).toMatchObject({ reverted: { why: "not_confirmed" } });
});

it("operators 7: a note that could not be read is settled when the document was, and what is put back is run", async () => {
  await here.begun();
  await using store = openConfigFile(here.path);
  vi.spyOn(store.probations, "find").mockRejectedValueOnce(new Error("input/output error"));
  const { settled, stored } = await here.start({ store });
  expect(settled).toMatchObject({ reverted: { why: "process_ended" } });
  expect(stored?.version).toBe(41);
});

it("operators 7: a note that cannot be read changes nothing, and stays to be looked at", async () => {
  await here.begun();
  writeFileSync(here.note, '{"format": 2, "secret": "s3cret"}');
  const { settled, stored, logged } = await nextStart();
  expect([settled, stored?.version]).toEqual([undefined, 42]);
  expect(logged.join()).toContain("bridge.yaml.probation");
  expect(logged.join()).not.toContain("s3cret");
  expect(existsSync(here.note)).toBe(true);
});

it("operators 7: who confirms or reverts while the document is away is told what became of it, and what to do", async () => {
  await using stage = trying(here.folder);
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
  await using stage = trying(here.folder);
  const version = await stage.tryOut({ bridge: { id: "plant-8" } });
  for (const [spoil, before] of [
    [() => writeFileSync(stage.path, "broken: ["), { pending: true }],
    [() => rmSync(stage.path), { reverted: { why: "not_confirmed" } }],
  ] as const) {
    spoil();
    expect(await stage.transactions.history(NEVER)).toMatchObject([{ version, ...before }]);
    const told = async () => {
      stage.clock.advance(10_000);
      return (await stage.transactions.history(NEVER))?.[0];
    };
    const reverted = { why: "not_confirmed", at: expect.any(Number) as number };
    await expect.poll(told, PATIENCE).toMatchObject({ version, reverted });
    expect(await told()).not.toHaveProperty("pending");
  }
});

it("operators 7: the history says why a version was taken back from the moment that it is on probation no more", async () => {
  await using stage = trying(here.folder);
  const { store, transactions } = stage;
  const version = await stage.tryOut({ bridge: { id: "plant-8" } });
  const append = store.history.append.bind(store.history);
  const [written, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  Object.assign(store.history, {
    append: async (...entry: Parameters<typeof append>) => {
      asked.resolve();
      await written.promise;
      await append(...entry);
    },
  });
  const reverting = transactions.revert(version, "it was wrong");
  await asked.promise;
  const told = [{ version, available: true, reverted: { why: "operator", detail: "it was wrong" } }];
  expect(transactions.probation()).toBeUndefined();
  expect(await transactions.history(NEVER)).toMatchObject(told);
  written.resolve();
  await reverting;
  expect(await transactions.history(NEVER)).toMatchObject(told);
});

it("operators 7: a former version that cannot be applied while the document is away is tried again at each look, and told once", async () => {
  await using stage = trying(here.folder);
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
    await using _ = await triedElsewhere(here.path, probation);
    const tried = readFileSync(here.path, "utf8");
    expect(tried).toContain("plant-8");
    const { settled, stored, logged } = await nextStart();
    expect([settled, stored?.version]).toEqual([undefined, 42]);
    expect(logged.join()).toContain("on probation in another process, which runs");
    expect([readFileSync(here.path, "utf8"), existsSync(here.note)]).toEqual([tried, true]);
  }
  expect((await nextStart()).settled).toMatchObject({ reverted: { version: 42, why: "process_ended" } });
  expect(readFileSync(here.path, "utf8")).toBe(FORMER);
});
