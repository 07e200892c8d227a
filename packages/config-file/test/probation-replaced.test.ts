import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { openConfigFile } from "../src/index.ts";
import { documentFolder } from "./support/document-folder.ts";
import { trying } from "./support/trying.ts";

const NEVER = new AbortController().signal;
const FORMER =
  "# ours\nconfig_version: 41\nbridge: {id: plant-7}\nstores: {outbox: {type: file, options: {path: a}}}\n";
const PLAIN = "# ours\nconfig_version: 41\nbridge: {id: plant-7}\n";
const BY_HAND = "config_version: 40\nbridge: {id: by-hand}\n";
const MOVED = { stores: { outbox: { type: "file", options: { path: "b" } } } };

const here = documentFolder(FORMER);
const { probation } = here;
const nextStart = () => here.start();

it.each([
  ["the former one, byte for byte", FORMER, 41],
  ["the former one in another form", FORMER.replace("# ours\n", ""), 41],
  ["another one", BY_HAND, 40],
  ["one of the same version, with the former stores", FORMER.replace("41", "42"), 42],
])(
  "spec 4.9.8: after a kill another hand stores %s: that counts, and the start tells what was on probation and where its messages are",
  async (_, byHand, formerVersion) => {
    const tried = await here.killed(MOVED);
    writeFileSync(here.path, byHand);
    const start = await nextStart();
    await using stage = trying(here.folder, start);
    const reverted = { version: 42, formerVersion, why: "process_ended", actor: "alice", leftStores: ["outbox"] };
    expect(start.settled).toMatchObject({ reverted });
    expect(start.logged).toEqual([expect.stringContaining("another hand has replaced")]);
    expect(start.history).toMatchObject([{ version: 42, reverted: { why: "process_ended" } }]);
    expect([readFileSync(here.path, "utf8"), existsSync(here.note)]).toEqual([byHand, false]);
    const [name = ""] = readdirSync(`${here.path}.versions`).filter((one) => one.startsWith("42.left-outbox-"));
    expect(readFileSync(`${here.path}.versions/${name}`, "utf8")).toBe(tried);
    expect((await start.store.versions.load(42, NEVER))?.document).toMatchObject(MOVED);
    expect(stage.reverted).toMatchObject([reverted]);
    expect(stage.transactions.leftBehind()).toMatch(/version 42 .* stores.outbox at another place .*from_version: 42/);
    expect(await nextStart()).toMatchObject({ settled: undefined, logged: [] });
  },
);

it("spec 4.9.8: an orderly end does not hide what another hand replaces before the next start", async () => {
  await here.killed(MOVED);
  const store = openConfigFile(here.path);
  await store.probations.find(NEVER);
  await store.probations.note({ probation, orderly: true }, NEVER);
  await store[Symbol.asyncDispose]();
  writeFileSync(here.path, BY_HAND);
  expect((await nextStart()).settled).toMatchObject({ reverted: { version: 42, leftStores: ["outbox"] } });
});

it("spec 4.9.8: a document that has the same stores leaves no messages behind, and the change is told all the same", async () => {
  await here.killed({ bridge: { id: "plant-8" } });
  writeFileSync(here.path, BY_HAND);
  const { settled, history } = await nextStart();
  expect(settled).toMatchObject({ reverted: { version: 42 } });
  expect(settled).not.toHaveProperty("reverted.leftStores");
  expect(history).toMatchObject([{ version: 42, reverted: { why: "process_ended" } }]);
});

it("spec 4.9.8: what another hand has only gone on with is taken back by nobody, and is on probation no more", async () => {
  const tried = await here.killed(MOVED);
  writeFileSync(here.path, `${tried}# mended\n`);
  const { settled, logged, history } = await nextStart();
  expect([settled, existsSync(here.note)]).toEqual([undefined, false]);
  expect(logged).toEqual([expect.stringContaining("another hand has replaced")]);
  expect(history).toMatchObject([{ version: 42, pending: true }]);
  expect(readdirSync(`${here.path}.versions`)).toEqual(["41.yaml"]);
});

it("spec 4.9.8: a note that does not hold what was tried out is removed, and what is stored counts", async () => {
  await here.killed(MOVED);
  const { tried: _, ...older } = here.noted();
  writeFileSync(here.note, JSON.stringify(older));
  writeFileSync(here.path, BY_HAND);
  expect(await nextStart()).toMatchObject({ settled: undefined, logged: [] });
  expect([readFileSync(here.path, "utf8"), existsSync(here.note)]).toEqual([BY_HAND, false]);
});

it.each([
  ["puts the former one back", PLAIN],
  ["stores another one", BY_HAND],
])(
  "spec 4.9.8: another hand %s while it is tried out: the history says so, and what was tried out is kept",
  async (_, byHand) => {
    writeFileSync(here.path, PLAIN);
    const store = openConfigFile(here.path);
    await using stage = trying(here.folder, { store, settled: undefined });
    const version = await stage.tryOut({ bridge: { id: "plant-8" } });
    const tried = readFileSync(here.path, "utf8");
    writeFileSync(here.path, byHand);
    await store.load(NEVER);
    stage.clock.advance(1_000);
    await expect.poll(() => existsSync(here.note)).toBe(false);
    await stage.transactions.underWay;
    const reverted = { why: "operator", detail: "another hand has replaced the document" };
    expect(await stage.transactions.history(NEVER)).toMatchObject([{ version, available: true, reverted }]);
    expect(readFileSync(`${here.path}.versions/${version}.reverted.yaml`, "utf8")).toBe(tried);
    expect(stage.transactions.leftBehind()).toBeUndefined();
    await expect(stage.transactions.confirm(version)).rejects.toMatchObject({ reason: "no_probation" });
    await stage.transactions.suspend();
  },
);

it("spec 4.9.8: another hand goes on with what is tried out: it is there to stay", async () => {
  writeFileSync(here.path, PLAIN);
  const store = openConfigFile(here.path);
  await using stage = trying(here.folder, { store, settled: undefined });
  const version = await stage.tryOut({ bridge: { id: "plant-8" } });
  writeFileSync(here.path, `${readFileSync(here.path, "utf8")}# mended\n`);
  await store.load(NEVER);
  stage.clock.advance(1_000);
  await expect.poll(() => existsSync(here.note)).toBe(false);
  await stage.transactions.underWay;
  const [entry] = (await stage.transactions.history(NEVER)) ?? [];
  expect(entry).toMatchObject({ version, available: true });
  expect(entry).not.toHaveProperty("pending");
  expect(entry).not.toHaveProperty("reverted");
  await stage.transactions.suspend();
});
