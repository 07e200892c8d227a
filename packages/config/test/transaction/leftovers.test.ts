import { type LeftStore, type LeftVersion, silentLogger, type StoredConfig, systemClock } from "@bridge/ports";
import { expect, it, vi } from "vitest";
import { PATIENCE } from "@bridge/tooling/patience";
import type { StoreConfig } from "../../src/index.ts";
import { Aftermath } from "../../src/transaction/aftermath.ts";
import type { LeftBehind } from "../../src/transaction/left-behind.ts";
import { keptLeftovers, Leftovers } from "../../src/transaction/leftovers.ts";
import type { NamedStores } from "../../src/transaction/named-stores.ts";
import { placesOf } from "../../src/transaction/store-places.ts";

const store = (place: string): StoreConfig => ({ type: "file", options: {}, reach: "instance", place });
const documents: Record<number, NamedStores> = {
  42: { outbox: store("b"), dlq: store("c") },
  40: { outbox: store("z") },
};
const config = (version: number, stores: NamedStores, abandonBacklog: readonly LeftStore[] = []) => ({
  configVersion: version,
  stores,
  abandonBacklog,
});

/** What a store of documents has kept, and who knows of it. */
async function stage(...first: readonly LeftVersion[]) {
  let listed = first;
  const left = {
    list: async () => listed,
    keep: async () => {},
    narrow: async ({ where }: LeftVersion, stores: readonly LeftStore[]) => {
      const next = where.replace(/left-.*/, `left-${stores.join("-")}`);
      listed = listed.flatMap((one) =>
        one.where !== where ? [one] : stores.length === 0 ? [] : [{ ...one, stores, where: next }],
      );
    },
  };
  const versions = { left, list: async () => [], load: async () => undefined, keepReverted: async () => {} };
  const logged: unknown[] = [];
  const parts = {
    store: { versions },
    storesOf: async ({ n }: StoredConfig["document"]) => documents[n as number] ?? {},
    clock: systemClock,
    logger: { ...silentLogger, warn: (...line: unknown[]) => void logged.push(line) },
  };
  const start = async (starting?: ReturnType<typeof config>, others: readonly LeftBehind[] = []) =>
    new Leftovers([...(await keptLeftovers(parts)), ...others], parts, starting);
  const keeps = (one: LeftVersion): void => void (listed = [...listed, one]);
  const removes = (where: string): void => void (listed = listed.filter((one) => one.where !== where));
  return {
    start,
    keeps,
    removes,
    logged,
    leftovers: await start(),
    noted: () => listed.map(({ version, stores }) => [version, ...stores]),
  };
}

function kept(version: number, ...stores: readonly LeftStore[]): LeftVersion {
  return {
    version,
    stores,
    where: `${version}`,
    kept: { stored: { version, revision: "r", document: { n: version } } },
  };
}

const BOTH = kept(42, "outbox", "dlq");

it("what was left behind is told until each of its stores has run again, whoever has brought it into force, also over a restart", async () => {
  const { leftovers, start, noted } = await stage(BOTH);
  leftovers.starts(config(41, { outbox: store("a") }));
  expect(leftovers.told).toMatch(
    /^version 42 has stores.outbox and stores.dlq .* runs, version 41, .*from_version: 42/,
  );
  leftovers.runs(config(43, { outbox: store("a"), dlq: store("c") }));
  expect(leftovers.told).toMatch(
    /^version 42 has stores.outbox at .* runs, version 43, .* stores.outbox.abandon_backlog/,
  );
  await vi.waitFor(() => expect(noted()).toEqual([[42, "outbox"]]), PATIENCE);
  const next = await start();
  next.starts(config(43, { outbox: store("a"), dlq: store("c") }));
  expect(next.told).toMatch(/^version 42 has stores.outbox at /);
  next.runs(config(44, { outbox: store("b") }));
  expect(next.told).toBeUndefined();
  await vi.waitFor(() => expect(noted()).toEqual([]), PATIENCE);
  expect((await start()).told).toBeUndefined();
});

it("what was left behind is told over what has other stores, or none, and over what could not be brought into force", async () => {
  const { leftovers, noted } = await stage(BOTH);
  const aftermath = new Aftermath(leftovers);
  leftovers.runs(config(43, {}));
  const brings = (status: "rolled_back" | "committed") =>
    aftermath.ofCommit({
      begun: true,
      result: { status, version: 44, error: "no" },
      differs: false,
      config: config(0, documents[42] ?? {}) as never,
    });
  brings("rolled_back");
  expect(leftovers.told).toMatch(/has stores.outbox and stores.dlq /);
  brings("committed");
  expect(leftovers.told).toBeUndefined();
  await vi.waitFor(() => expect(noted()).toEqual([]), PATIENCE);
});

it("spec 4.9.8: a change that may leave messages behind leaves what runs: of what other versions have left nothing is forgotten", async () => {
  const { leftovers, noted } = await stage(kept(40, "outbox"), BOTH);
  leftovers.starts(config(41, { outbox: store("a") }));
  leftovers.runs(config(43, { outbox: store("x") }, ["outbox", "dlq"]));
  expect(leftovers.told).toMatch(/^version 42 has stores.outbox and stores.dlq .*version 40 \(stores.outbox/);
  expect(noted()).toEqual([
    [40, "outbox"],
    [42, "outbox", "dlq"],
  ]);
});

it("spec 4.9.8: one that says the version of what runs is told as another document, and two of one version in their order", async () => {
  const { leftovers } = await stage(
    { ...kept(42, "outbox"), where: "42.b", kept: { stored: { version: 42, revision: "s", document: { n: 40 } } } },
    { ...BOTH, where: "42.a" },
  );
  leftovers.starts(config(42, {}));
  expect(leftovers.told).toMatch(
    /than what runs, another document of version 42, .*kept as 42.a.*version 42 \(stores.outbox, kept as 42.b, which that number finds when nothing is left of the one before\)$/,
  );
});

it("spec 4.9.8: what somebody has removed is told no more from the next configuration on, and the log says so", async () => {
  const { leftovers, removes, logged } = await stage(kept(40, "outbox"), BOTH);
  leftovers.starts(config(41, {}));
  removes("42");
  leftovers.runs(config(41, {}));
  await vi.waitFor(() => expect(leftovers.told).toMatch(/^version 40 [^;]*; commit version 40/), PATIENCE);
  expect(leftovers.told).not.toContain("42");
  expect(logged).toContainEqual([
    expect.stringContaining("is told no more"),
    { left: "42 (outbox, dlq)", files: "42" },
  ]);
});

it("spec 4.9.8: what another process with stores of its own has left under the same number is told as another version", async () => {
  const left = (place: string): LeftVersion => ({
    ...kept(42, "outbox"),
    where: `42.${place}`,
    places: placesOf({ outbox: store(place) }),
  });
  const { leftovers, removes, keeps, logged } = await stage(left("b"), kept(40, "outbox"));
  leftovers.starts(config(41, {}));
  removes("42.b");
  keeps(left("y"));
  leftovers.runs(config(41, {}));
  await vi.waitFor(() => expect(leftovers.told).toMatch(/^version 42 .*kept as 42.y\).*version 40 /), PATIENCE);
  expect(leftovers.told).not.toContain("42.b");
  expect(logged).toContainEqual([
    expect.stringContaining("another process has run"),
    { left: "42 (outbox)", files: "42.b" },
  ]);
});

it("spec 4.9.8: what another process has noted as left of stores that run here is noted no more", async () => {
  const { leftovers, keeps, noted } = await stage(kept(40, "outbox"));
  const runs = { outbox: store("y"), dlq: store("c") };
  leftovers.starts(config(43, runs));
  keeps({ ...BOTH, places: placesOf({ outbox: store("b"), dlq: store("c") }) });
  leftovers.runs(config(43, runs));
  await vi.waitFor(
    () =>
      expect(noted()).toEqual([
        [40, "outbox"],
        [42, "outbox"],
      ]),
    PATIENCE,
  );
});

it("spec 4.9.8: one that could not be read, and has been mended, ends as any other", async () => {
  const { leftovers, removes, keeps } = await stage({ ...BOTH, kept: { unreadable: "it is cut off" } });
  leftovers.starts(config(41, {}));
  expect(leftovers.told).toContain("cut off");
  removes("42");
  keeps(BOTH);
  leftovers.runs(config(41, {}));
  await vi.waitFor(() => expect(leftovers.told).not.toContain("cut off"), PATIENCE);
  leftovers.runs(config(43, documents[42] ?? {}));
  expect(leftovers.told).toBeUndefined();
});

it("spec 4.9.8: several are told, the newest first, each with its stores and its file, and each ends by itself", async () => {
  const { leftovers } = await stage(kept(40, "outbox"), BOTH);
  expect(leftovers.told).toMatch(
    /^version 42 .* \(from_version: 42, kept as 42\), .*; the same is true of version 40 \(stores.outbox, kept as 40\)$/,
  );
  leftovers.runs(config(43, documents[42] ?? {}));
  expect(leftovers.told).toMatch(/^version 40 has stores.outbox at [^;]*; commit version 40 again/);
});

it("spec 4.9.8: of each it is told what is the matter with its document", async () => {
  const { leftovers } = await stage(
    BOTH,
    { version: 41, stores: ["dlq"], where: "41.x", kept: { unreadable: "it is cut off" } },
    { ...kept(40, "outbox"), kept: { stored: { version: 40, revision: "r", document: {} }, changed: true } },
  );
  expect(leftovers.told).toMatch(
    /true of version 41 \(stores.dlq, kept as 41.x, which cannot run again as it is: it is cut off\), version 40 \(stores.outbox, kept as 40, which was changed after it was kept\)$/,
  );
});

it("spec 4.9.8: of more than 20 the newest are told, and how many there are besides", () => {
  const all = Array.from({ length: 23 }, (_, n) => ({ version: n, leftStores: ["outbox" as const], where: `${n}.x` }));
  const { told = "" } = new Leftovers(all, {
    store: {},
    storesOf: async () => ({}),
    clock: systemClock,
    logger: silentLogger,
  });
  expect(told.match(/kept as \d+\.x/g)).toHaveLength(20);
  expect(told).toMatch(
    /version 3 \(stores.outbox, kept as 3.x\), 3 older ones, versions 0 to 2, kept in the same folder$/,
  );
});

it("spec 4.9.8: while a process starts, a store that it brings back is not told, nor noted yet; what it has not is told", async () => {
  const { start, noted } = await stage(kept(40, "outbox"), BOTH);
  const starting = config(43, documents[42] ?? {});
  const next = await start(starting);
  expect(next.told).toMatch(/^version 40 has stores.outbox at another place than what runs, version 43,/);
  expect(next.told).not.toContain("version 42");
  expect(noted()).toHaveLength(2);
  next.starts(starting);
  await vi.waitFor(() => expect(noted()).toEqual([[40, "outbox"]]), PATIENCE);
});

it("spec 4.9.8: what is kept after it is told has its file from then on, and so has what gets another name", async () => {
  const { leftovers, keeps } = await stage();
  leftovers.tookBack({ version: 42, formerVersion: 41, leftStores: ["outbox", "dlq"], stores: documents[42] });
  expect(leftovers.told).toMatch(/from_version: 42\)/);
  keeps({ ...BOTH, where: "42.left-dlq-outbox" });
  leftovers.starts(config(41, {}));
  await vi.waitFor(() => expect(leftovers.told).toMatch(/kept as 42.left-dlq-outbox\)/), PATIENCE);
  leftovers.runs(config(43, { dlq: store("c") }));
  await vi.waitFor(() => expect(leftovers.told).toMatch(/stores.outbox .*kept as 42.left-outbox\)/), PATIENCE);
});

it("spec 4.9.8: of what is not kept yet it is told that nobody can begin with it, until it is kept", async () => {
  const { start, keeps } = await stage();
  const left = (version: number) => ({ version, leftStores: ["outbox" as const], stores: documents[version] });
  const leftovers = await start(undefined, [left(40), left(42)]);
  leftovers.starts(config(41, {}));
  const told = /^version 42 .*; its document is not kept yet, .* version 40 \(stores.outbox, which is not kept yet\)$/;
  await vi.waitFor(() => expect(leftovers.told).toMatch(told), PATIENCE);
  for (const version of [40, 42]) keeps(kept(version, "outbox"));
  leftovers.runs(config(41, {}));
  await vi.waitFor(() => expect(leftovers.told).toMatch(/kept as 42\).*kept as 40\)$/), PATIENCE);
  expect(leftovers.told).not.toContain("not kept yet");
});

it("one that cannot be read is told, with why, and with what helps, whatever runs", async () => {
  const { leftovers } = await stage({
    version: 42,
    stores: ["dlq"],
    where: "42.x",
    kept: { unreadable: "it is cut off" },
  });
  leftovers.runs(config(43, { dlq: store("c") }));
  expect(leftovers.told).toMatch(
    /version 42 .*\(it is cut off\): mend that; .*kept as 42\.x.*, remove 42.x and reload$/,
  );
});

it("what this start has taken back is the same as what is kept of it, and what has left nothing takes the place of nothing", async () => {
  const { leftovers } = await stage(BOTH);
  leftovers.tookBack({ version: 42, formerVersion: 41, leftStores: ["outbox", "dlq"], stores: documents[42] });
  leftovers.tookBack({ version: 45, formerVersion: 44 });
  expect(leftovers.told).toMatch(/version 42/);
  expect(leftovers.told).not.toContain("the same is true");
});

it("what cannot be listed is told in the log, and a start goes on", async () => {
  const logged: string[] = [];
  const parts = {
    store: { versions: { left: { list: () => Promise.reject(new Error("input/output error")) } } as never },
    storesOf: async () => ({}),
    clock: systemClock,
    logger: { ...silentLogger, error: (line: string) => void logged.push(line) },
  };
  expect(await keptLeftovers(parts)).toEqual([]);
  expect(logged).toEqual([expect.stringContaining("is not known")]);
});

it.each([
  ["nothing", []],
  ["another version", [kept(40, "outbox")]],
] as const)(
  "spec 4.9.8: a process that tells of %s tells what another one has left from the next configuration on, but for stores that run here",
  async (_, known) => {
    const { leftovers, keeps, removes, logged } = await stage(...known);
    const runs = { outbox: store("a"), dlq: store("c") };
    leftovers.starts(config(41, runs));
    const before = leftovers.told;
    keeps(BOTH);
    expect(leftovers.told).toBe(before);
    leftovers.runs(config(41, runs));
    await vi.waitFor(() => expect(leftovers.told).toMatch(/^version 42 has stores.outbox at /), PATIENCE);
    expect(logged).toContainEqual([expect.stringContaining("messages may wait"), { left: "42 (outbox)" }]);
    const warned = logged.length;
    leftovers.runs(config(41, runs));
    await leftovers.look();
    expect(logged).toHaveLength(warned);
    removes("42");
    leftovers.runs(config(41, runs));
    await vi.waitFor(() => expect(leftovers.told).toBe(before), PATIENCE);
  },
);
