import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRegistry } from "@bridge/config";
import { type Clock, type Logger, silentLogger, systemClock } from "@bridge/ports";
import { expect, test } from "vitest";
import { fileOrigin } from "../src/config-origin.ts";
import { ConfigSource } from "../src/config-source.ts";
import { lastLook } from "../src/last-look.ts";

type Looked = Parameters<typeof lastLook>[0];
const document = (version: number): string => `config_version: ${version}\nbridge: {id: a}\n`;

/** Waits longer than it should: the thread that reads a changed file starts slowly on a machine that is busy. */
const PATIENT: Clock = { ...systemClock, after: (ms, fire) => systemClock.after(ms * 20, fire) };

/** A process that ends: what it was told of `source` at last, and its warnings. */
async function ended(source: Looked, clock = PATIENT) {
  const announced: unknown[] = [];
  const warned: unknown[] = [];
  const logger: Logger = { ...silentLogger, warn: (_, fields) => void warned.push(fields?.["error"]) };
  const supervisor = {
    announce: async ({ configVersion }: { readonly configVersion: number }) => {
      announced.push(configVersion);
      return async () => {};
    },
  };
  await lastLook(source, supervisor, { clock, logger });
  return { announced, warned };
}

/** A file that held `first` when its process read it, and holds `then` when that ends. */
async function edited(first: string, then: string) {
  using folder = mkdtempDisposableSync(join(tmpdir(), "bridge-last-look-"));
  const path = join(folder.path, "bridge.yaml");
  writeFileSync(path, first);
  const origin = fileOrigin(path, { env: {} });
  await using _ = origin.store;
  const seams = { clock: systemClock, logger: silentLogger };
  const source = new ConfigSource({ origin, registry: createRegistry({}), ...seams });
  await source.read(new AbortController().signal);
  writeFileSync(path, then);
  return await ended(source);
}

test("spec 4.9.5: an orderly end tells what was stored just before, which nobody has noticed", async () => {
  expect(await edited(document(1), document(2))).toEqual({ announced: [2], warned: [] });
});

test("what cannot be run is not told, and nobody warned: the next start says what is wrong", async () => {
  expect(await edited(document(1), "nonsense: 1\n")).toEqual({ announced: [], warned: [] });
});

test("a document that cannot be read is warned of, and the process ends all the same", async () => {
  const { announced, warned } = await edited(document(1), "bridge: {");
  expect([announced, warned]).toEqual([[], [expect.stringContaining("bridge.yaml")]]);
});

test("a store that does not answer is waited for 5 s", async () => {
  const bounds: number[] = [];
  const after: Clock["after"] = (ms, fire) => {
    bounds.push(ms);
    return systemClock.after(0, fire);
  };
  const store = { departures: {} } as Looked["store"];
  const silent = { store, glance: () => Promise.withResolvers<undefined>().promise };
  const { announced, warned } = await ended(silent, { ...systemClock, after });
  expect([bounds, announced, warned]).toEqual([[5_000], [], ["the configuration was not read in 5 s"]]);
});

test("what nobody can remember is not looked for", async () => {
  const asked = () => Promise.reject(new Error("it was read"));
  expect(await ended({ store: {} as Looked["store"], glance: asked })).toEqual({ announced: [], warned: [] });
});
