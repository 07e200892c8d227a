import { readdirSync, writeFileSync } from "node:fs";
import { keptLeftovers, namedStores, placesOf, settleProbation, whyElsewhere } from "@bridge/config";
import { silentLogger, type StoredConfig, systemClock } from "@bridge/ports";
import { allOf } from "@bridge/tooling/all-of";
import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, it } from "vitest";
import { type ConfigFile, openConfigFile } from "../src/index.ts";
import { documentFolder } from "./support/document-folder.ts";
import { registry } from "./support/file-stores.ts";

/** What says where messages wait says where the stores were, whatever the references in it name by now. @module */

const NEVER = new AbortController().signal;
const KINDS = ["file", "env"] as const;
const FORMER = "config_version: 41\nbridge: {id: plant-7}\n";
const here = documentFolder(FORMER);

/** Sees the stores as a process does for which the references have this value. */
function eyes(value: string) {
  const sources = { env: () => value, file: async () => `${value}\n` };
  const storesOf = namedStores({ registry, sources, clock: systemClock });
  return { storesOf, clock: systemClock, logger: silentLogger };
}

function referred(kind: (typeof KINDS)[number], store = "o") {
  return {
    bridge: { id: "plant-7" },
    stores: { outbox: { type: "file", options: { path: `\${${kind}:where}/${store}` } } },
  };
}

async function begin(
  store: ConfigFile,
  kind: (typeof KINDS)[number],
  value: string,
  document = referred(kind),
): Promise<void> {
  const former = await store.load(NEVER);
  if (former === undefined) throw new Error("it is there");
  const { storesOf } = eyes(value);
  const places = { tried: placesOf(await storesOf(document)), former: placesOf(await storesOf(former.document)) };
  const probation = {
    version: 42,
    formerVersion: 41,
    confirmBy: Date.now() + 60_000,
    actor: "alice",
    routes: [],
    places,
  };
  await store.probations.begin(document, former, probation, NEVER);
}

const read = (store: ConfigFile) => async (instead?: StoredConfig) => instead ?? store.load(NEVER);
const left = async (store: ConfigFile, value: string) => keptLeftovers({ store, ...eyes(value) });

describe.each(KINDS)("a reference to %s", (kind) => {
  it.each(["killed", "ended in order"])(
    "spec 4.9.8: of a probation whose process was %s leads elsewhere later",
    async (how) => {
      {
        await using store = openConfigFile(here.path);
        await begin(store, kind, "there");
        const found = await store.probations.find(NEVER);
        if (found === undefined || !("probation" in found)) throw new Error("it was begun");
        if (how !== "killed") await store.probations.note({ probation: found.probation, orderly: true }, NEVER);
      }
      await using store = openConfigFile(here.path);
      const { settled } = await settleProbation(store, eyes("elsewhere"), read(store));
      expect(Object.keys(settled ?? {})).toEqual([how === "killed" ? "reverted" : "goesOn"]);
      const why = `stores.outbox refers to \${${kind}:where}, which names another place here and now`;
      const [told] = await left(store, "elsewhere");
      expect(told).toMatchObject({ version: 42, leftStores: ["outbox"] });
      expect(told?.unusable).toContain(why);
      const [again] = await left(store, "there");
      expect(again).toMatchObject({ version: 42, leftStores: ["outbox"], unusable: undefined });
    },
  );

  it("spec 4.9.8: of two processes with stores of their own, what the one has left is told though the other one has none", async () => {
    writeFileSync(here.path, `${FORMER}stores: {outbox: {type: file, options: {path: "\${${kind}:where}/a"}}}\n`);
    {
      await using p = openConfigFile(here.path);
      await begin(p, kind, "p");
    }
    await using q = openConfigFile(here.path);
    await settleProbation(q, eyes("q"), read(q));
    expect(await left(q, "q")).toMatchObject([{ version: 42, leftStores: ["outbox"] }]);
    expect(await left(q, "p")).toMatchObject([{ version: 42, leftStores: ["outbox"], unusable: undefined }]);
  });

  it("spec 4.9.8: that leads elsewhere at a start: a store that the change has not moved is told, too, for the process before may have had it", async () => {
    writeFileSync(here.path, JSON.stringify({ config_version: 41, ...referred(kind, "a") }));
    {
      await using p = openConfigFile(here.path);
      await begin(p, kind, "p", { ...referred(kind, "a"), bridge: { id: "plant-8" } });
    }
    await using next = openConfigFile(here.path);
    await settleProbation(next, eyes("q"), read(next));
    expect(await left(next, "q")).toMatchObject([{ version: 42, leftStores: ["outbox"] }]);
  });

  it("spec 4.9.5: of FILE.leaving is looked at with where its stores were", async () => {
    writeFileSync(here.path, JSON.stringify({ config_version: 41, ...referred(kind) }));
    {
      await using store = openConfigFile(here.path);
      const stored = await store.load(NEVER);
      if (stored === undefined) throw new Error("it is there");
      await store.departures.remember(stored, NEVER, placesOf(await eyes("there").storesOf(stored.document)));
    }
    await using next = openConfigFile(here.path);
    const [found] = await allOf(next.departures.find(NEVER));
    if (found === undefined) throw new Error("it was remembered");
    const seenFrom = async (value: string) => whyElsewhere(found, await eyes(value).storesOf(found.document));
    expect(await seenFrom("there")).toBeUndefined();
    expect(await seenFrom("elsewhere")).toContain(`\${${kind}:where}`);
    await next.versions.left?.keep(found, ["outbox"], NEVER);
    await expect
      .poll(() => readdirSync(`${here.path}.versions`), PATIENCE)
      .toEqual([expect.stringMatching(/^41\.left-outbox@[0-9a-f]{16}-[0-9a-f]{8}\.yaml$/)]);
  });
});
