import { writeFileSync } from "node:fs";
import { checkDocument, keptLeftovers, namedStores, placesOf, settleProbation } from "@bridge/config";
import { silentLogger, type StoredConfig, systemClock } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import { expect, it } from "vitest";
import { openConfigFile } from "../src/index.ts";
import { documentFolder } from "./support/document-folder.ts";
import { registry } from "./support/file-stores.ts";
import { trying } from "./support/trying.ts";

/** What a version has left, while what its references name changes under the process that runs another one. @module */

const NEVER = new AbortController().signal;
const outbox = (path: string) => ({
  bridge: { id: "plant-7" },
  stores: { outbox: { type: "file", options: { path } } },
});
const LEFT = outbox("${file:where}/o");
const REFERS = "refers to ${file:where}, which names another place here and now than where";
const WITHOUT =
  /^version 42 has stores.outbox at another place than what runs, version 41, and ended with its process: what waits there nobody delivers or sees; commit /;
const here = documentFolder(JSON.stringify({ config_version: 41, ...outbox("here/o") }));

/** A process was killed while it tried version 42 out, with its outbox in `there`: this one has taken that back, and runs version 41. */
async function stage() {
  const where = { names: "there" };
  const sources = { env: () => undefined, file: async () => where.names };
  const storesOf = namedStores({ registry, sources, clock: systemClock });
  const eyes = { storesOf, clock: systemClock, logger: silentLogger };
  {
    await using killed = openConfigFile(here.path);
    const former = await killed.load(NEVER);
    if (former === undefined) throw new Error("it is there");
    const places = { tried: placesOf(await storesOf(LEFT)), former: placesOf(await storesOf(former.document)) };
    await killed.probations.begin(LEFT, former, { ...here.probation, places }, NEVER);
  }
  const store = openConfigFile(here.path);
  await settleProbation(store, eyes, async (instead?: StoredConfig) => instead ?? store.load(NEVER));
  const process = trying(here.folder, {
    store,
    settled: undefined,
    leftBehind: await keptLeftovers({ store, ...eyes }),
    sources,
  });
  const { transactions } = process;
  const running = async (version: number, document: StoredConfig["document"]) => {
    const checked = await checkDocument(document, registry, sources, NEVER);
    if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
    return { ...checked.config, configVersion: version };
  };
  transactions.started(await running(41, outbox("here/o")));
  return {
    where,
    transactions,
    applied: process.applied,
    told: () => transactions.leftBehind(),
    reload: async () => transactions.followed(await running(41, outbox("here/o"))),
    [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
  };
}

it("spec 4.9.8: what is told follows, at each reload, what the references of a left version name by then", async () => {
  await using process = await stage();
  expect(process.told()).toMatch(WITHOUT);
  for (const _ of [1, 2]) {
    process.where.names = "elsewhere";
    await process.reload();
    await expect.poll(process.told, PATIENCE).toContain(`(stores.outbox ${REFERS} it ran: `);
    process.where.names = "there";
    await process.reload();
    await expect.poll(process.told, PATIENCE).toMatch(WITHOUT);
  }
});

it("spec 4.9.7: a left version that would open another store is not committed, and both the answer and what is told name the reference", async () => {
  await using process = await stage();
  const { transactions } = process;
  process.where.names = "elsewhere";
  const { id } = await transactions.open(60_000, NEVER, 42);
  const message = `${REFERS} version 42 has left messages: set it back, or write the place itself here`;
  const problems = [{ path: ["stores", "outbox"], message }];
  expect(await transactions.validate(id, NEVER)).toMatchObject({ problems });
  expect(await transactions.commit(id, "alice")).toEqual({ status: "invalid", problems });
  expect(process.told()).toContain(REFERS);
  process.where.names = "there";
  expect(await transactions.commit(id, "alice")).toEqual({ status: "committed", version: 43 });
  expect(process.applied.at(-1)?.stores.outbox).toMatchObject({ place: "there/o" });
  expect(process.told()).toBeUndefined();
});

it.each([
  ["has the place itself", "there/o", true],
  ["has another place, which somebody wants", "here/o", false],
])("spec 4.9.7: a left version is committed when its document %s", async (_, path, ends) => {
  await using process = await stage();
  const { transactions } = process;
  process.where.names = "elsewhere";
  const { id } = await transactions.open(60_000, NEVER, 42);
  const { problems } = await transactions.replace(id, JSON.stringify({ config_version: 41, ...outbox(path) }), NEVER);
  expect(problems).toEqual([]);
  expect(await transactions.patch(id, { bridge: { log_level: "debug" } }, NEVER)).toMatchObject({ problems: [] });
  expect(await transactions.commit(id, "alice")).toMatchObject({ status: "committed" });
  if (ends) expect(process.told()).toBeUndefined();
  else await expect.poll(process.told, PATIENCE).toContain(REFERS);
});

it("spec 4.9.8: a document that was changed after it was kept is told so from the next reload on", async () => {
  await using process = await stage();
  const [, file = ""] = /kept as (\S+)\)/.exec(process.told() ?? "") ?? [];
  writeFileSync(`${here.folder}/${file}`, JSON.stringify({ config_version: 42, ...outbox("there/p") }));
  await process.reload();
  await expect.poll(process.told, PATIENCE).toContain("its document was changed after it was kept");
});
