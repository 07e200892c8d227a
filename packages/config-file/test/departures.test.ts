import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempDisposableSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openConfigFile } from "../src/index.ts";

const NEVER = new AbortController().signal;
const FORMER = 'config_version: 1 # kept as it is\nbridge: {id: "${env:NAME}"}\n';

async function stage() {
  const made = mkdtempDisposableSync(join(tmpdir(), "bridge-departures-"));
  const path = join(made.path, "bridge.yaml");
  writeFileSync(path, FORMER);
  const store = openConfigFile(path);
  const stored = await store.load(NEVER);
  if (stored === undefined) throw new Error("it was written");
  return {
    path,
    note: `${path}.leaving`,
    store,
    stored,
    async [Symbol.asyncDispose]() {
      chmodSync(made.path, 0o755);
      await store[Symbol.asyncDispose]();
      made[Symbol.dispose]();
    },
  };
}

describe("what a change leaves", () => {
  test("is kept beside the file as it was written, for its owner only, until it is forgotten", async () => {
    await using here = await stage();
    const { path, note, store, stored } = here;
    await store.departures.remember(stored, NEVER);
    expect(readFileSync(note, "utf8")).toBe(FORMER);
    expect(statSync(note).mode & 0o777).toBe(0o600);
    writeFileSync(path, "config_version: 2\n");
    await using next = openConfigFile(path);
    const found = await next.departures.find(NEVER);
    expect(found).toMatchObject({ version: 1, revision: stored.revision, document: stored.document });
    await next.departures.forget(NEVER);
    await next.departures.forget(NEVER);
    expect(existsSync(note)).toBe(false);
    expect(await next.departures.find(NEVER)).toBeUndefined();
  });

  test("is kept and forgotten also while the file is gone", async () => {
    await using here = await stage();
    const { path, note, store, stored } = here;
    rmSync(path);
    await store.departures.remember(stored, NEVER);
    expect(readFileSync(note, "utf8")).toBe(FORMER);
    await store.departures.forget(NEVER);
    expect(existsSync(note)).toBe(false);
  });

  test.each(["", " \n", "# nothing\n", "{}", "\0\0\0", "stores: {outbox: [", "a folder"])(
    "is not known while nothing of it can be read, which is said with the remedy, and stays: %j",
    async (text) => {
      await using here = await stage();
      if (text === "a folder") mkdirSync(here.note);
      else writeFileSync(here.note, text);
      for (let n = 0; n < 2; n++)
        await expect(here.store.departures.find(NEVER)).rejects.toThrow(
          /\.leaving: .*former document.*remove this file/,
        );
      rmSync(here.note, { recursive: true });
      expect(await here.store.departures.find(NEVER)).toBeUndefined();
    },
  );

  test("is not written again where nothing can be written, and is not forgotten there", async () => {
    await using here = await stage();
    const { path, note, store, stored } = here;
    await store.departures.remember(stored, NEVER);
    chmodSync(path, 0o444);
    await store.departures.remember(stored, NEVER);
    await expect(store.departures.forget(NEVER)).rejects.toThrow("make the file and its folder writable");
    expect(existsSync(note)).toBe(true);
    rmSync(note);
    await store.departures.forget(NEVER);
    await expect(store.departures.remember(stored, NEVER)).rejects.toThrow("make the file and its folder writable");
  });

  test.for(["stores: {outbox: [", `a: "${"x".repeat(5 * 1024 * 1024)}"\n`])(
    "is told with a remedy when it cannot be read",
    async (text) => {
      await using here = await stage();
      writeFileSync(here.note, text);
      await expect(here.store.departures.find(NEVER)).rejects.toThrow(/bridge\.yaml\.leaving: .*remove this file/);
    },
  );
});
