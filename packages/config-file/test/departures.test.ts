import { createHash } from "node:crypto";
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
import { tryLockFile } from "@bridge/file/internal";
import type { StoredConfig } from "@bridge/ports";
import { allOf } from "@bridge/tooling/all-of";
import { describe, expect, test } from "vitest";
import { type ConfigFile, openConfigFile } from "../src/index.ts";
import { leftElsewhere } from "./support/left-elsewhere.ts";

const NEVER = new AbortController().signal;
const FORMER = 'config_version: 1 # kept as it is\nbridge: {id: "${env:NAME}"}\n';

/** As a document is kept. */
function kept(document: string): string {
  return `# sha256: ${createHash("sha256").update(document).digest("hex")}\n${document}`;
}

/** What is found in the first place. */
async function found({ departures }: Pick<ConfigFile, "departures">): Promise<StoredConfig | undefined> {
  const [first] = await allOf(departures.find(NEVER));
  return first;
}

async function stage(name = "bridge.yaml", text = FORMER) {
  const made = mkdtempDisposableSync(join(tmpdir(), "bridge-departures-"));
  const path = join(made.path, name);
  writeFileSync(path, text);
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
    await store.departures.remember(stored, NEVER, {});
    expect(readFileSync(note, "utf8")).toBe(kept(FORMER));
    expect(statSync(note).mode & 0o777).toBe(0o600);
    writeFileSync(path, "config_version: 2\n");
    await using next = openConfigFile(path);
    const former = await found(next);
    expect(former).toMatchObject({ version: 1, revision: stored.revision, document: stored.document });
    for (let n = 0; n < 2; n++) await next.departures.forget(NEVER, former);
    expect(existsSync(note)).toBe(false);
    expect(await found(next)).toBeUndefined();
  });

  test("is kept and forgotten also while the file is gone", async () => {
    await using here = await stage();
    const { path, note, store, stored } = here;
    rmSync(path);
    await store.departures.remember(stored, NEVER, {});
    expect(readFileSync(note, "utf8")).toBe(kept(FORMER));
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
        await expect(found(here.store)).rejects.toThrow(/\.leaving: .*former document.*remove this file/);
      rmSync(here.note, { recursive: true });
      expect(await found(here.store)).toBeUndefined();
    },
  );

  test("is not written again where nothing can be written, and is not forgotten there", async () => {
    await using here = await stage();
    const { path, note, store, stored } = here;
    await store.departures.remember(stored, NEVER, {});
    chmodSync(path, 0o444);
    await store.departures.remember(stored, NEVER, {});
    await expect(store.departures.forget(NEVER)).rejects.toThrow("make the file and its folder writable");
    expect(existsSync(note)).toBe(true);
    rmSync(note);
    await store.departures.forget(NEVER);
    await expect(store.departures.remember(stored, NEVER, {})).rejects.toThrow("make the file and its folder writable");
  });

  test.each([
    ["bridge.yaml", FORMER],
    ["bridge.json", '{\n"config_version": 1,\n"bridge": {"id": "a"}\n}\n'],
  ])("is found as it was, and one that an older release has kept, too: %s", async (name, text) => {
    await using here = await stage(name, text);
    const { note, store, stored } = here;
    writeFileSync(note, text);
    expect(await found(store)).toEqual(stored);
    await store.departures.remember(stored, NEVER, {});
    expect(readFileSync(note, "utf8")).toBe(text);
    await store.departures.forget(NEVER);
    await store.departures.remember(stored, NEVER, {});
    expect(readFileSync(note, "utf8")).toBe(kept(text));
    expect(await found(store)).toEqual(stored);
  });

  test("is not believed wherever it is cut off, or changed", async () => {
    await using here = await stage("bridge.yaml", `${FORMER}stores: {outbox: {type: file}}\nroutes: []\n`);
    const { note, store, stored } = here;
    await store.departures.remember(stored, NEVER, {});
    const whole = readFileSync(note, "utf8");
    const lines = whole.split("\n").slice(0, -1);
    const cuts = lines.map((_, n) => lines.slice(0, n).join("\n"));
    const spoiled = [...cuts, ...cuts.map((cut) => `${cut}\n`), `${whole}# more\n`, whole.replaceAll("\n", "\r\n")];
    for (const text of [...spoiled, ...Array.from({ length: whole.length }, (_, n) => whole.slice(0, n))]) {
      writeFileSync(note, text);
      await expect(found(store)).rejects.toThrow(
        /\.leaving: .+: put the former document there again .* remove this file$/,
      );
    }
    writeFileSync(note, whole.slice(whole.indexOf("\n") + 1));
    expect(await found(store)).toEqual(stored);
  });

  test.each(["", "stores: {outbox: [", "config_version: 7\n", kept("config_version: 7\n"), "a folder"])(
    "takes the place of nothing that somebody else has left there, nor is that forgotten with it: %j",
    async (text) => {
      await using here = await stage();
      const { note, store, stored } = here;
      if (text === "a folder") mkdirSync(note);
      else writeFileSync(note, text);
      for (let n = 0; n < 2; n++) {
        await expect(store.departures.remember(stored, NEVER, {})).rejects.toThrow(
          /\.leaving may say which stores were being left before, and is not replaced: if another process runs on this file, .* if none does, restart, .* remove it$/,
        );
        await store.departures.forget(NEVER);
      }
      if (text === "a folder") expect(statSync(note).isDirectory()).toBe(true);
      else expect(readFileSync(note, "utf8")).toBe(text);
      rmSync(note, { recursive: true });
      await store.departures.remember(stored, NEVER, {});
      expect(readFileSync(note, "utf8")).toBe(kept(FORMER));
    },
  );

  test("takes the place of what this process has remembered before, also when that was cut off meanwhile", async () => {
    await using here = await stage();
    const { path, note, store, stored } = here;
    await store.departures.remember(stored, NEVER, {});
    const next = await store.write({ bridge: { id: "b" } }, stored, NEVER);
    if (next === undefined) throw new Error("it is the only writer");
    writeFileSync(note, readFileSync(note, "utf8").slice(0, 90));
    await store.departures.remember(next, NEVER, {});
    expect(readFileSync(note, "utf8")).toBe(kept(readFileSync(path, "utf8")));
    await store.departures.forget(NEVER);
    expect(existsSync(note)).toBe(false);
  });

  test.for(["stores: {outbox: [", `a: "${"x".repeat(5 * 1024 * 1024)}"\n`])(
    "is told with a remedy when it cannot be read",
    async (text) => {
      await using here = await stage();
      writeFileSync(here.note, text);
      await expect(found(here.store)).rejects.toThrow(/bridge\.yaml\.leaving: .*remove this file/);
    },
  );
});

test("another process that is leaving stores is known for as long as it runs; what this one is leaving is its own", async () => {
  await using here = await stage();
  const { path, store, stored } = here;
  await using other = await leftElsewhere(path);
  expect(await store.departures.elsewhere(stored, NEVER)).toBe(true);
  await other.kill();
  expect(await store.departures.elsewhere(stored, NEVER)).toBe(false);
  await store.departures.remember(stored, NEVER, {});
  expect(await store.departures.elsewhere(stored, NEVER)).toBe(false);
});

test("what is remembered is another process's no more when it is forgotten, or its process ends in order", async () => {
  await using here = await stage();
  const { note, store, stored } = here;
  const isHeld = (): boolean => {
    const lock = tryLockFile(note);
    lock?.[Symbol.dispose]();
    return lock === undefined;
  };
  for (const ends of [() => store.departures.forget(NEVER), () => store[Symbol.asyncDispose]()]) {
    await store.departures.remember(stored, NEVER, {});
    expect(isHeld()).toBe(true);
    await ends();
    expect(isHeld()).toBe(false);
  }
  expect(existsSync(note)).toBe(true);
});

test("where nothing can be locked something is remembered all the same, and nobody else is known", async () => {
  await using here = await stage();
  const { note, store, stored } = here;
  mkdirSync(`${note}-lock`);
  await store.departures.remember(stored, NEVER, {});
  expect(readFileSync(note, "utf8")).toBe(kept(FORMER));
  expect(await store.departures.elsewhere(stored, NEVER)).toBe(false);
});
