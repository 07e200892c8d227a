import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { appendFile, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { SuiteClock } from "@bridge/conformance";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConfigFile, openConfigFile, type WatchSettings } from "../src/index.ts";
import { Watching } from "./support/next-change.ts";

const NEVER = new AbortController().signal;
/** Told by the system: the resync is an hour away. */
const NOTIFY: WatchSettings = { mode: "notify", pollIntervalMs: 3_600_000, debounceMs: 20 };

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "bridge-watch-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const at = (...names: string[]): string => join(folder, ...names);
const documentOf = (id: string): string => `bridge: {id: ${id}}\n`;

async function watched(
  path: string,
  settings: WatchSettings = NOTIFY,
): Promise<{ store: ConfigFile; watch: Watching }> {
  const store = openConfigFile(path, { watch: () => settings });
  await store.load(NEVER);
  return { store, watch: new Watching(store) };
}

describe("a file that is watched", () => {
  it("is told when an editor writes it in place, piece by piece: whole, once it has settled", async () => {
    writeFileSync(at("bridge.yaml"), documentOf("a"));
    const clock = new SuiteClock(0);
    const store = openConfigFile(at("bridge.yaml"), { watch: () => NOTIFY, clock });
    await store.load(NEVER);
    await using watch = new Watching(store);
    const told = watch.next();
    const handle = await open(at("bridge.yaml"), "w");
    await delay(30); // to be heard of; no time passes for the watch
    await handle.write("bridge:\n");
    await delay(30);
    await appendFile(handle, "  id: b\n");
    await handle.close();
    const ticking = setInterval(() => void clock.pass(20), 5);
    expect(await told).toMatchObject({ kind: "changed", stored: { document: { bridge: { id: "b" } } } });
    clearInterval(ticking);
  });

  it("is told when an editor puts a new file in its place", async () => {
    writeFileSync(at("bridge.yaml"), documentOf("a"));
    const { watch } = await watched(at("bridge.yaml"));
    await using _ = watch;
    for (const id of ["b", "c", "d"]) {
      const told = watch.nextId();
      writeFileSync(at(".bridge.yaml.swp"), documentOf(id));
      renameSync(at(".bridge.yaml.swp"), at("bridge.yaml"));
      expect(await told).toBe(id);
    }
  });

  it("is told when an editor moves it away first, and writes it anew", async () => {
    writeFileSync(at("bridge.yaml"), documentOf("a"));
    const { watch } = await watched(at("bridge.yaml"));
    await using _ = watch;
    const told = watch.nextId();
    renameSync(at("bridge.yaml"), at("bridge.yaml~"));
    writeFileSync(at("bridge.yaml"), documentOf("b"));
    expect(await told).toBe("b");
  });

  it("is told when the links of a Kubernetes ConfigMap are swapped", async () => {
    mkdirSync(at("..2026_01"));
    writeFileSync(at("..2026_01", "bridge.yaml"), documentOf("a"));
    symlinkSync("..2026_01", at("..data"));
    symlinkSync("..data/bridge.yaml", at("bridge.yaml"));
    const { watch } = await watched(at("bridge.yaml"));
    await using _ = watch;
    for (const [former, next, id] of [
      ["..2026_01", "..2026_02", "b"],
      ["..2026_02", "..2026_03", "c"],
    ] as const) {
      const told = watch.nextId();
      mkdirSync(at(next));
      writeFileSync(at(next, "bridge.yaml"), documentOf(id));
      symlinkSync(next, at("..data_tmp"));
      renameSync(at("..data_tmp"), at("..data"));
      rmSync(at(former), { recursive: true });
      expect(await told).toBe(id);
    }
  });

  it("is told when what a link points to changes in another folder, and when the link is set anew", async () => {
    mkdirSync(at("real"));
    writeFileSync(at("real", "one.yaml"), documentOf("a"));
    writeFileSync(at("real", "other.yaml"), documentOf("c"));
    symlinkSync(at("real", "one.yaml"), at("bridge.yaml"));
    const { watch } = await watched(at("bridge.yaml"));
    await using _ = watch;
    const told = watch.nextId();
    writeFileSync(at("real", "one.yaml"), documentOf("b"));
    expect(await told).toBe("b");
    const toldAgain = watch.nextId();
    unlinkSync(at("bridge.yaml"));
    symlinkSync("real/other.yaml", at("bridge.yaml"));
    expect(await toldAgain).toBe("c");
  });

  it("is told when it appears in a folder that was not there, and again when that folder is made anew", async () => {
    const path = at("not", "yet", "bridge.yaml");
    const { watch } = await watched(path);
    await using _ = watch;
    for (const id of ["a", "b"]) {
      const told = watch.nextId();
      mkdirSync(at("not"));
      await delay(30);
      mkdirSync(at("not", "yet"));
      writeFileSync(path, documentOf(id));
      expect(await told).toBe(id);
      const gone = watch.next();
      rmSync(at("not"), { recursive: true });
      expect(await gone).toEqual({ kind: "missing" });
    }
  });

  it("is told when its folder is swapped for another", async () => {
    mkdirSync(at("etc"));
    mkdirSync(at("etc-new"));
    writeFileSync(at("etc", "bridge.yaml"), documentOf("a"));
    writeFileSync(at("etc-new", "bridge.yaml"), documentOf("b"));
    const { watch } = await watched(at("etc", "bridge.yaml"));
    await using _ = watch;
    const told = watch.nextId();
    renameSync(at("etc"), at("etc-old"));
    renameSync(at("etc-new"), at("etc"));
    expect(await told).toBe("b");
  });

  it("tells with path and line why there is nothing to run, without its text", async () => {
    writeFileSync(at("bridge.yaml"), documentOf("a"));
    const { watch } = await watched(at("bridge.yaml"));
    await using _ = watch;
    const told = watch.next();
    writeFileSync(at("bridge.yaml"), 'bridge:\n  id: a\nhttp: {admin_api_key: "canary\n');
    const change = await told;
    expect(change.kind === "unreadable" && change.error.message).toMatch(/bridge\.yaml:\d+:\d+ /);
    expect(change.kind === "unreadable" && change.error.message).not.toContain("canary");
    const list = watch.next();
    writeFileSync(at("bridge.yaml"), "- a\n- b\n");
    expect(await list).toMatchObject({
      kind: "unreadable",
      error: { message: expect.stringContaining("the document is a list") as string },
    });
  });

  it("is no matter of the other files beside it", async () => {
    writeFileSync(at("bridge.yaml"), documentOf("a"));
    const clock = new SuiteClock(0);
    const store = openConfigFile(at("bridge.yaml"), { watch: () => NOTIFY, clock });
    await store.load(NEVER);
    await using watch = new Watching(store);
    const told = watch.nextId();
    for (let i = 0; i < 100; i++) writeFileSync(at(`dlq-${i}.db`), "x");
    writeFileSync(at("bridge.yaml"), documentOf("b"));
    const ticking = setInterval(() => void clock.pass(20), 5);
    expect(await told).toBe("b");
    clearInterval(ticking);
  });

  it("is told when what was a file becomes its folder", async () => {
    writeFileSync(at("file"), "no folder");
    const store = openConfigFile(at("file", "bridge.yaml"), { watch: () => NOTIFY });
    await expect(store.load(NEVER)).rejects.toThrow("ENOTDIR");
    await using watch = new Watching(store);
    const told = watch.nextId();
    rmSync(at("file"));
    mkdirSync(at("file"));
    writeFileSync(at("file", "bridge.yaml"), documentOf("a"));
    expect(await told).toBe("a");
  });
});

describe("mode poll", () => {
  it("looks every poll_interval and hears of nothing in between", async () => {
    writeFileSync(at("bridge.yaml"), documentOf("a"));
    const rests = Promise.withResolvers<void>();
    const clock = new (class extends SuiteClock {
      override delay(ms: number, signal: AbortSignal): Promise<void> {
        const over = super.delay(ms, signal);
        if (ms === 30_000) rests.resolve();
        return over;
      }
    })(0);
    const store = openConfigFile(at("bridge.yaml"), {
      watch: () => ({ mode: "poll", pollIntervalMs: 30_000, debounceMs: 100 }),
      clock,
    });
    await store.load(NEVER);
    await using watch = new Watching(store);
    const told: unknown[] = [];
    const next = watch.nextId().then((id) => told.push(id));
    await rests.promise;
    writeFileSync(at("bridge.yaml"), documentOf("b"));
    await delay(100); // in which the system could tell it
    await clock.pass(29_000);
    expect(told).toEqual([]);
    const ticking = setInterval(() => void clock.pass(1_000), 5);
    await next;
    clearInterval(ticking);
    expect(told).toEqual(["b"]);
  });

  it("may be switched on and off while it watches, and its interval be changed", async () => {
    writeFileSync(at("bridge.yaml"), documentOf("a"));
    let settings: WatchSettings = NOTIFY;
    const store = openConfigFile(at("bridge.yaml"), { watch: () => settings });
    await store.load(NEVER);
    await using watch = new Watching(store);
    for (const [id, next] of [
      ["b", { mode: "poll", pollIntervalMs: 10, debounceMs: 0 }],
      ["c", NOTIFY],
      ["d", NOTIFY],
    ] as const) {
      const told = watch.nextId();
      writeFileSync(at("bridge.yaml"), documentOf(id));
      settings = next;
      expect(await told).toBe(id);
    }
  });
});
