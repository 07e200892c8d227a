import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRegistry } from "@bridge/config";
import { tryLockFile } from "@bridge/file/internal";
import { ReadOnlyConfigError, type StoredConfig } from "@bridge/ports";
import { noSmallDisk, smallDisk } from "@bridge/tooling/faulty-disk";
import { runProgram } from "@bridge/tooling/test-program";
import { allOf } from "@bridge/tooling/all-of";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { formatLocatedProblem, openConfigFile } from "../src/index.ts";

const NEVER = new AbortController().signal;
const TEXT = "# ours\nbridge: {id: a} # here\n";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "bridge-config-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const at = (...names: string[]): string => join(folder, ...names);

async function writeTo(path: string, document: Readonly<Record<string, unknown>>): Promise<StoredConfig | undefined> {
  const store = openConfigFile(path);
  const stored = await store.load(NEVER);
  if (stored === undefined) throw new Error("there is nothing");
  return store.write(document, stored, NEVER);
}

describe("what a writer that was killed has left", () => {
  const DRAFTS = ["bridge.yaml-new", "bridge.yaml.history.jsonl-new", "bridge.yaml.versions/1.yaml-new"];
  const left = (): readonly string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("-new"));

  async function watched<T>(work: () => Promise<T>): Promise<T> {
    const over = new AbortController();
    await using store = openConfigFile(at("bridge.yaml"));
    await store.load(NEVER);
    const changes = allOf(store.watch(over.signal));
    try {
      return await work();
    } finally {
      over.abort();
      await changes;
    }
  }

  beforeEach(() => writeFileSync(at("bridge.yaml"), TEXT));

  it.each([[DRAFTS], ...DRAFTS.map((draft) => [[draft]])])("is removed when a watch begins: %j", async (drafts) => {
    mkdirSync(at("bridge.yaml.versions"), { recursive: true });
    for (const draft of drafts) writeFileSync(at(draft), "half of");
    await watched(async () => {
      await expect.poll(left).toEqual([]);
    });
    expect(readFileSync(at("bridge.yaml"), "utf8")).toBe(TEXT);
  });

  it("stays while another process writes: it is that one's", async () => {
    writeFileSync(at("bridge.yaml-new"), "half of");
    const lock = tryLockFile(at("bridge.yaml"));
    const over = new AbortController();
    await using store = openConfigFile(at("bridge.yaml"));
    const first = await store.load(NEVER);
    const changes = allOf(store.watch(over.signal));
    // Behind the removal, which waits for the lock.
    const written = store.write({ bridge: { id: "b" } }, first as StoredConfig, NEVER);
    await Promise.race([written, new Promise((resolve) => setTimeout(resolve, 100))]);
    expect(left()).toEqual(["bridge.yaml-new"]);
    lock?.[Symbol.dispose]();
    expect(await written).toMatchObject({ version: 1 });
    expect(left()).toEqual([]);
    over.abort();
    await changes;
  });

  it("is left by who only reads, and where there is none nothing is made", async () => {
    await watched(() => writeTo(at("bridge.yaml"), { bridge: { id: "b" } }));
    rmSync(at("bridge.yaml-lock"));
    rmSync(at("bridge.yaml.versions"), { recursive: true });
    await watched(async () => {});
    expect(readdirSync(folder)).toEqual(["bridge.yaml"]);
    writeFileSync(at("bridge.yaml-new"), "half of");
    await using store = openConfigFile(at("bridge.yaml"));
    await store.load(NEVER);
    expect(left()).toEqual(["bridge.yaml-new"]);
  });
});

describe("contract 2: a write", () => {
  it("keeps mode and owner, and leaves nothing behind but its lock and the former one", async () => {
    writeFileSync(at("bridge.yaml"), TEXT);
    chmodSync(at("bridge.yaml"), 0o640);
    const root = process.getuid?.() === 0;
    if (root) chownSync(at("bridge.yaml"), 1234, 2345);
    await writeTo(at("bridge.yaml"), { bridge: { id: "b" } });
    expect(readFileSync(at("bridge.yaml"), "utf8")).toBe("# ours\nbridge: {id: b} # here\nconfig_version: 1\n");
    const { mode, uid, gid } = statSync(at("bridge.yaml"));
    expect(mode & 0o7777).toBe(0o640);
    if (root) expect([uid, gid]).toEqual([1234, 2345]);
    expect(readdirSync(folder).toSorted()).toEqual(["bridge.yaml", "bridge.yaml-lock", "bridge.yaml.versions"]);
  });

  it("replaces what a link points to, and leaves the link", async () => {
    mkdirSync(at("real"));
    writeFileSync(at("real", "it.yaml"), TEXT);
    symlinkSync("real/it.yaml", at("bridge.yaml"));
    await writeTo(at("bridge.yaml"), { bridge: { id: "b" } });
    expect(readlinkSync(at("bridge.yaml"))).toBe("real/it.yaml");
    expect(readFileSync(at("real", "it.yaml"), "utf8")).toContain("{id: b}");
    expect(readdirSync(folder).toSorted()).toEqual(["bridge.yaml", "real"]);
  });

  it("waits for another process that writes, and no longer than it is let", async () => {
    writeFileSync(at("bridge.yaml"), TEXT);
    const held = tryLockFile(at("bridge.yaml"));
    const store = openConfigFile(at("bridge.yaml"));
    const stored = (await store.load(NEVER)) as StoredConfig;
    const reason = new Error("long enough");
    const given = new AbortController();
    const writing = store.write({ bridge: { id: "b" } }, stored, given.signal);
    given.abort(reason);
    await expect(writing).rejects.toBe(reason);
    const waiting = store.write({ bridge: { id: "c" } }, stored, NEVER);
    held?.[Symbol.dispose]();
    expect(await waiting).toMatchObject({ version: 1 });
  });

  it("overwrites a draft that somebody who was killed has left", async () => {
    writeFileSync(at("bridge.yaml"), TEXT);
    writeFileSync(at("bridge.yaml-new"), "half of someth");
    expect(await writeTo(at("bridge.yaml"), { bridge: { id: "b" } })).toMatchObject({ version: 1 });
    expect(readdirSync(folder)).not.toContain("bridge.yaml-new");
  });

  it.skipIf(noSmallDisk)("on a disk that is full leaves the file as it is", async () => {
    using disk = smallDisk(64);
    const path = join(disk.folder, "bridge.yaml");
    writeFileSync(path, TEXT);
    await expect(writeTo(path, { text: "x".repeat(100_000) })).rejects.toMatchObject({ code: "ENOSPC" });
    expect(readFileSync(path, "utf8")).toBe(TEXT);
    expect(readdirSync(disk.folder)).not.toContain("bridge.yaml-new");
    expect(await writeTo(path, { bridge: { id: "b" } })).toMatchObject({ version: 1 });
  });

  it("to a file that nobody may write to is refused, naming the remedy", async () => {
    writeFileSync(at("bridge.yaml"), TEXT);
    chmodSync(at("bridge.yaml"), 0o444);
    const refused = writeTo(at("bridge.yaml"), { bridge: { id: "b" } });
    await expect(refused).rejects.toBeInstanceOf(ReadOnlyConfigError);
    await expect(refused).rejects.toThrow(/bridge\.yaml cannot be written to.*make the file and its folder writable/);
  });
});

describe("a file with another name", () => {
  it("is read and not written to, which would leave the other name behind: the error says what to do", async () => {
    writeFileSync(at("bridge.yaml"), TEXT);
    linkSync(at("bridge.yaml"), at("other.yaml"));
    const refused = writeTo(at("bridge.yaml"), { bridge: { id: "b" } });
    await expect(refused).rejects.toBeInstanceOf(ReadOnlyConfigError);
    await expect(refused).rejects.toThrow(/bridge\.yaml has another name, a hard link.*use a symbolic link or a copy/);
    for (const name of ["bridge.yaml", "other.yaml"]) expect(readFileSync(at(name), "utf8")).toBe(TEXT);
    rmSync(at("other.yaml"));
    expect(await writeTo(at("bridge.yaml"), { bridge: { id: "b" } })).toMatchObject({ version: 1 });
  });
});

describe("processes that write to one file", { timeout: 60_000 }, () => {
  const program = new URL("support/config-writer.ts", import.meta.url);

  it("write one version each, none twice and none lost", async () => {
    writeFileSync(at("bridge.yaml"), TEXT);
    const ended = await Promise.all([1, 2].map(() => runProgram({ program, args: [at("bridge.yaml")] }, 5)));
    const versions = ended.flatMap(({ lines }) => lines.map(Number));
    expect(new Set(versions).size).toBe(versions.length);
    const { version } = (await openConfigFile(at("bridge.yaml")).load(NEVER)) as StoredConfig;
    // Each may have been killed between a write and its line.
    expect(version - versions.length).toBeLessThanOrEqual(2);
    expect(Math.max(...versions)).toBeLessThanOrEqual(version);
  });

  it("leave a whole file and no lock when they are killed", async () => {
    writeFileSync(at("bridge.yaml"), TEXT);
    for (const lines of [1, 4]) {
      const { lines: said } = await runProgram({ program, args: [at("bridge.yaml")] }, lines);
      const store = openConfigFile(at("bridge.yaml"));
      const stored = (await store.load(NEVER)) as StoredConfig;
      expect(stored.version).toBeGreaterThanOrEqual(Number(said.at(-1)));
      expect(stored.document["text"]).toBe(`${stored.version} `.repeat(20_000));
      expect(readFileSync(at("bridge.yaml"), "utf8")).toContain("# ours");
    }
    expect(await writeTo(at("bridge.yaml"), { bridge: { id: "b" } })).toBeDefined();
  });
});

describe("what is loaded", () => {
  it("is checked with the line of each problem, as it was when it was loaded", async () => {
    writeFileSync(at("bridge.yaml"), "bridge:\n  id: ${env:ID}\n  log_level: loud\n");
    const store = openConfigFile(at("bridge.yaml"));
    const stored = (await store.load(NEVER)) as StoredConfig;
    writeFileSync(at("bridge.yaml"), "bridge: {id: b}\n");
    const checked = await store.check(stored, createRegistry({}), { env: { ID: "a" }, signal: NEVER });
    expect(checked.ok ? [] : checked.problems.map(formatLocatedProblem)).toEqual([
      `${at("bridge.yaml")}:3:3 bridge.log_level: expected one of debug, info, warn, error (got "loud")`,
    ]);
    expect(stored.document).toEqual({ bridge: { id: "${env:ID}", log_level: "loud" } });
  });
});

describe("the history", () => {
  it("stands beside the file, for its owner only, and bears with what others did to it", async () => {
    writeFileSync(at("bridge.yaml"), TEXT);
    const { history } = openConfigFile(at("bridge.yaml"));
    const entry = { version: 1, committedAt: 0, actor: "alice", changes: [] };
    await history.append(entry, NEVER);
    const path = at("bridge.yaml.history.jsonl");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, `${readFileSync(path, "utf8")}torn {"vers`);
    expect(await history.list(NEVER)).toEqual([entry]);
    await history.append({ ...entry, version: 2 }, NEVER);
    expect(readFileSync(path, "utf8").split("\n")).toHaveLength(3);
  });

  it.each([
    "null",
    "[]",
    "5",
    '{"version":1}',
    '{"version":null,"changes":5}',
    '{"version":2,"committedAt":"x","actor":5,"changes":null}',
    '{"version":2,"committedAt":1e300,"actor":"bob","changes":[]}',
    '{"version":2,"committedAt":0,"actor":"bob","changes":[null]}',
    '{"version":2,"committedAt":0,"actor":"bob","changes":[],"reverted":{"at":"soon","why":"operator"}}',
    '{"version":2.5,"committedAt":0,"actor":"bob","changes":[]}',
  ])("leaves out a line that is no entry: %s", async (line) => {
    writeFileSync(at("bridge.yaml"), TEXT);
    const { history } = openConfigFile(at("bridge.yaml"));
    const entry = { version: 1, committedAt: 0, actor: "alice", changes: [{ path: "bridge.log_level", after: 5 }] };
    await history.append(entry, NEVER);
    const path = at("bridge.yaml.history.jsonl");
    writeFileSync(path, `${line}\n${readFileSync(path, "utf8")}${line}\n`);
    expect(await history.list(NEVER)).toEqual([entry]);
  });

  it("has of a last line that was cut off what there is, as pending, until its version is known to run", async () => {
    writeFileSync(at("bridge.yaml"), TEXT);
    const { history } = openConfigFile(at("bridge.yaml"));
    const first = { version: 1, committedAt: 5, actor: "alice", changes: [] };
    const second = {
      version: 2,
      committedAt: 7,
      actor: 'b"ob',
      changes: [{ path: "bridge.log_level", after: "debug" }],
    };
    await history.append(first, NEVER);
    await history.append({ ...second, pending: true }, NEVER);
    const path = at("bridge.yaml.history.jsonl");
    const text = readFileSync(path, "utf8");
    const begin = text.lastIndexOf('{"version":2');
    for (let end = begin + 14; end < text.length - 2; end++) {
      writeFileSync(path, text.slice(0, end));
      const [newest, ...others] = await history.list(NEVER);
      expect(newest).toMatchObject({ version: 2, changes: [], pending: true });
      expect(others).toEqual([first]);
    }
    const [torn = second] = await history.list(NEVER);
    expect(torn).toEqual({ ...second, changes: [], pending: true });
    await history.append(second, NEVER);
    expect(await history.list(NEVER)).toEqual([second, first]);
  });

  it("names its own file and the remedy when that cannot be used, and not the document's", async () => {
    writeFileSync(at("bridge.yaml"), TEXT);
    const { history } = openConfigFile(at("bridge.yaml"));
    mkdirSync(at("bridge.yaml.history.jsonl"));
    const words = /bridge\.yaml\.history\.jsonl: it is not a regular file: .* or move it away/;
    await expect(history.list(NEVER)).rejects.toThrow(words);
    await expect(history.append({ version: 1, committedAt: 0, actor: "", changes: [] }, NEVER)).rejects.toThrow(words);
  });
});

describe("finding 5.7: a file that has not changed", () => {
  it("is not parsed again, and one that has is", async () => {
    writeFileSync(at("bridge.yaml"), TEXT);
    const store = openConfigFile(at("bridge.yaml"));
    const first = await store.load(NEVER);
    expect(first?.document).toEqual({ bridge: { id: "a" } });
    expect((await store.load(NEVER))?.document).toBe(first?.document);
    writeFileSync(at("bridge.yaml"), TEXT.replace("id: a", "id: c"));
    expect((await store.load(NEVER))?.document).toEqual({ bridge: { id: "c" } });
    writeFileSync(at("bridge.yaml"), TEXT);
    expect(await store.load(NEVER)).toEqual(first);
  });
});

it("an edit by hand that comes while a document is made ready is not written over, and leaves nothing on probation", async () => {
  const path = at("bridge.yaml");
  const probation = { version: 1, formerVersion: 0, confirmBy: 0, actor: "alice", routes: [] };
  const hand = "bridge: {id: by-hand}\n";
  for (const how of ["write", "restore", "begin"] as const) {
    writeFileSync(path, TEXT);
    await using store = openConfigFile(path);
    const first = (await store.load(NEVER)) as StoredConfig;
    const next = how === "restore" ? await store.write({ bridge: { id: "b" } }, first, NEVER) : undefined;
    let isEdited = false;
    const written =
      how === "begin"
        ? store.probations.begin({ bridge: { id: "b" } }, first, probation, NEVER)
        : next === undefined
          ? store.write({ bridge: { id: "b" } }, first, NEVER)
          : store.restore(first, next, NEVER);
    const over = written.finally(() => (isEdited = true));
    while (!isEdited) {
      await new Promise((resolve) => void setImmediate(resolve));
      if (isEdited || !existsSync(`${path}-new`)) continue;
      writeFileSync(path, hand);
      isEdited = true;
    }
    expect([how, (await over) === true, readFileSync(path, "utf8")]).toEqual([how, false, hand]);
    expect([how, ...readdirSync(folder).filter((name) => /-new$|probation$/.test(name))]).toEqual([how]);
  }
});
