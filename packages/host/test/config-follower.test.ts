import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type BridgeConfig, createRegistry } from "@bridge/config";
import { createSupervisor, OperationError } from "@bridge/core";
import { type LogFields, type Logger, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ConfigFollower } from "../src/config-follower.ts";
import { fileOrigin } from "../src/config-origin.ts";
import { ConfigSource } from "../src/config-source.ts";
import { shutDown } from "../src/shut-down.ts";

const NEVER = new AbortController().signal;
const NEVER_ENDS = Promise.withResolvers<void>().promise;
const registry = createRegistry({});

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "bridge-follower-"))));
afterEach(() => rmSync(folder, { recursive: true }));

type Apply = (config: BridgeConfig) => Promise<"applied" | "accepted">;

/** A file that is followed, and what `apply` makes of it, by a bridge that is empty or not. */
async function follow(apply: Apply, empty = false, looked: () => Promise<void> = async () => {}) {
  const path = join(folder, "bridge.yaml");
  const write = (version: number): void => writeFileSync(path, `config_version: ${version}\nbridge: {id: test}\n`);
  write(1);
  const lines: { message: string; fields: LogFields | undefined }[] = [];
  const note = (message: string, fields?: LogFields): void => void lines.push({ message, fields });
  const logger: Logger = { ...silentLogger, info: note, warn: note, error: note };
  const watch = () => ({ mode: "notify", pollIntervalMs: 60_000, debounceMs: 1 }) as const;
  const fromFile = fileOrigin(path, { env: {}, watch });
  const check: typeof fromFile.check = async (...asked) => {
    await looked();
    return fromFile.check(...asked);
  };
  const origin = { ...fromFile, check };
  const { store } = origin;
  const source = new ConfigSource({ origin, registry, clock: systemClock, logger });
  const first = await source.read(NEVER);
  if (!first.ok) throw new Error(first.error);
  const supervisor = createSupervisor({ config: first.config, registry });
  const pauses: number[] = [];
  const follower = new ConfigFollower({
    source,
    supervisor: { apply: (config) => apply(config), view: () => ({ ...supervisor.view(), empty }) },
    transactions: { underWay: undefined, triesOver: () => false, followed: () => {} },
    keys: () => {},
    clock: {
      ...systemClock,
      delay: (ms, signal) => {
        pauses.push(ms);
        return systemClock.delay(ms / 100, signal);
      },
    },
    random: systemRandom(),
    logger,
  });
  follower.start();
  return { path, write, store, follower, supervisor, logger, lines, pauses };
}

async function stopped(follower: ConfigFollower): Promise<void> {
  const { watch, rollout } = follower.stop();
  await Promise.all([watch, rollout]);
}

async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + PATIENCE.timeout; !holds(); await delay(5)) {
    if (performance.now() > end) throw new Error("it did not happen in time");
  }
}

describe("a source that is followed", () => {
  test.each([
    ["not valid", "bridge: {id: test}\nnonsense: 1\n"],
    ["no document", "- a\n"],
    ["not parsed", "bridge: {\n"],
  ])("is told once when SIGHUP and the watch see one change, and again at the next SIGHUP: %s", async (_, text) => {
    const { path, write, follower, lines, store } = await follow(async () => "applied");
    const watch = store.watch(AbortSignal.timeout(20_000))[Symbol.asyncIterator]();
    writeFileSync(path, text);
    follower.reload();
    await until(() => follower.reloads().refused === 1);
    // It tells what the follower's own watch tells.
    await watch.next();
    await until(() => follower.facts().reloadingSince === undefined);
    const refusals = (): number => lines.filter(({ message }) => message.includes("not usable")).length;
    const problems = (): number => lines.filter(({ message }) => message === "configuration refused").length;
    expect([refusals(), problems(), follower.reloads().refused]).toEqual([1, 1, 1]);
    follower.reload();
    await until(() => follower.reloads().refused === 2);
    write(2);
    await until(() => follower.reloads().applied === 1);
    writeFileSync(path, text);
    await until(() => follower.reloads().refused === 3);
    expect([refusals(), problems()]).toEqual([3, 3]);
    await watch.return?.();
    await stopped(follower);
  });

  test("is applied one at a time, and of what changed meanwhile the newest", async () => {
    const begun: number[] = [];
    let busy = 0;
    const gate = Promise.withResolvers<void>();
    const { write, follower } = await follow(async ({ configVersion }) => {
      expect(++busy).toBe(1);
      begun.push(configVersion);
      await gate.promise;
      busy--;
      return "applied";
    });
    write(2);
    await until(() => begun.length === 1);
    for (const version of [3, 4, 5]) {
      write(version);
      await delay(20);
    }
    follower.reload();
    follower.reload();
    gate.resolve();
    await until(() => begun.includes(5));
    await stopped(follower);
    expect(begun.filter((version) => version === 3 || version === 4)).toEqual([]);
  });

  test("tells why a configuration could not be applied, until one is", async () => {
    const { write, follower, lines } = await follow(async ({ configVersion }) => {
      if (configVersion === 2) throw new Error("the port is taken, the former one runs again");
      return configVersion === 3 ? "accepted" : "applied";
    });
    write(2);
    await until(() => follower.facts().lastError !== undefined);
    expect(follower.facts()).toMatchObject({ lastError: "the port is taken, the former one runs again" });
    expect(follower.facts().lastReloadAt).toBeUndefined();
    write(3);
    await until(() => follower.facts().lastReloadAt !== undefined);
    expect(follower.facts().lastError).toBeUndefined();
    expect(lines.map(({ message }) => message)).toEqual([
      "configuration not applied",
      "configuration accepted: it comes into force as soon as the bridge can",
    ]);
    expect(follower.reloads()).toEqual({ applied: 0, accepted: 1, refused: 0, failed: 1 });
    write(4);
    await until(() => follower.reloads().applied === 1);
    await stopped(follower);
  });

  test("has the error that it had while a newer one is looked at, and tells since when that is", async () => {
    let gate: PromiseWithResolvers<void> | undefined;
    const { path, write, follower } = await follow(
      async () => "applied",
      false,
      async () => gate?.promise,
    );
    expect(follower.facts().reloadingSince).toBeUndefined();
    writeFileSync(path, "bridge: {id: test, log_level: loud}\n");
    await until(() => follower.facts().lastError !== undefined && follower.facts().reloadingSince === undefined);
    gate = Promise.withResolvers();
    const before = Date.now();
    write(3);
    follower.reload();
    await until(() => follower.facts().reloadingSince !== undefined);
    const { reloadingSince, lastError } = follower.facts();
    expect(reloadingSince).toBeGreaterThanOrEqual(before);
    expect(lastError).toContain("log_level");
    // Those behind it change neither.
    await delay(50);
    follower.reload();
    expect(follower.facts()).toMatchObject({ reloadingSince, lastError });
    gate.resolve();
    await until(() => follower.facts().reloadingSince === undefined);
    await stopped(follower);
    expect(follower.facts().lastError).toBeUndefined();
  });

  test("is no error any more once the store itself has written over it, and is one again when that is undone", async () => {
    const { path, store, follower } = await follow(async () => "applied");
    writeFileSync(path, "bridge: {id: test, log_level: loud}\n");
    await until(() => follower.facts().lastError !== undefined);
    expect(follower.reloads()).toEqual({ applied: 0, accepted: 0, refused: 1, failed: 0 });
    const refused = await store.load(NEVER);
    if (refused === undefined) throw new Error("the file is gone");
    const written = await store.write({ bridge: { id: "test" } }, refused, NEVER);
    if (written === undefined) throw new Error("the file has changed");
    expect(follower.facts().lastError).toBeUndefined();
    await store.restore(refused, written, NEVER);
    expect(follower.facts().lastError).toContain("bridge.yaml:1:20 bridge.log_level");
    await stopped(follower);
  });

  test("is not applied when somebody else has written over it before its turn", async () => {
    const applied: number[] = [];
    const gate = Promise.withResolvers<void>();
    const { path, write, follower } = await follow(async ({ configVersion }) => {
      applied.push(configVersion);
      await gate.promise;
      return "applied";
    });
    write(2);
    await until(() => applied.length === 1);
    follower.reload();
    rmSync(path);
    gate.resolve();
    await until(() => follower.facts().lastError !== undefined);
    await stopped(follower);
    expect(applied).toEqual([2]);
  });

  test("finding 4.1: what would leave messages behind is tried again until they are gone, and the facts say so", async () => {
    const words = "the change would leave messages behind: 1 in the outbox";
    let left = 2;
    const tries: number[] = [];
    const { write, follower, lines } = await follow(async ({ configVersion }) => {
      tries.push(configVersion);
      if (left-- > 0) throw new OperationError("stranding", words);
      return "applied";
    });
    write(2);
    await until(() => follower.facts().lastError === words);
    await until(() => follower.facts().lastReloadAt !== undefined);
    expect(follower.facts().lastError).toBeUndefined();
    await stopped(follower);
    expect(tries).toEqual([2, 2, 2]);
    expect(follower.reloads()).toEqual({ applied: 1, accepted: 0, refused: 1, failed: 0 });
    expect(lines.filter(({ fields }) => fields?.["error"] === words)).toHaveLength(1);
  });

  test("is tried again by an empty bridge until it can be brought into force, with pauses that grow to a bound", async () => {
    let tables = 8;
    const { write, follower, lines, pauses } = await follow(async () => {
      if (tables-- > 0) throw new OperationError("failed", `${tables} tables are not there`);
      return "applied";
    }, true);
    write(2);
    await until(() => follower.facts().lastError === "5 tables are not there");
    await until(() => follower.facts().lastReloadAt !== undefined);
    expect(follower.facts().lastError).toBeUndefined();
    await stopped(follower);
    expect(follower.reloads()).toEqual({ applied: 1, accepted: 0, refused: 0, failed: 1 });
    expect(lines.map(({ message }) => message)).toEqual([
      "configuration not applied: nothing runs, and it is tried again until it can be",
      "configuration reloaded",
    ]);
    const longest = [1, 2, 4, 8, 16, 30, 30, 30].map((seconds) => seconds * 1_000);
    expect(pauses).toHaveLength(longest.length);
    for (const [index, ms] of pauses.entries()) {
      expect(ms).toBeLessThanOrEqual(longest[index] ?? 0);
      expect(ms).toBeGreaterThanOrEqual((longest[index] ?? 0) / 2);
    }
  });

  test("is not tried again when that would stop what runs, nor once something else is stored", async () => {
    const tries: number[] = [];
    const { write, follower, pauses } = await follow(async ({ configVersion }) => {
      tries.push(configVersion);
      throw new Error("the port is taken");
    });
    write(2);
    await until(() => follower.reloads().failed === 1);
    await stopped(follower);
    expect([tries, pauses]).toEqual([[2], []]);
  });

  test("gives way, while it is tried again, to what is stored then", async () => {
    const tries: number[] = [];
    const { write, follower } = await follow(async ({ configVersion }) => {
      tries.push(configVersion);
      if (configVersion === 2) throw new Error("there is no such table");
      return "applied";
    }, true);
    write(2);
    await until(() => tries.length > 1);
    write(3);
    await until(() => follower.reloads().applied === 1);
    const after = tries.length;
    await delay(50);
    await stopped(follower);
    expect(tries.slice(after)).toEqual([]);
    expect(tries.at(-1)).toBe(3);
  });

  test("is read again while something that it refers to cannot be read, whatever runs, and taken when it can", async () => {
    const { path, follower, lines, pauses } = await follow(async () => "applied");
    const secret = join(folder, "secret");
    writeFileSync(path, `config_version: 2\nbridge: {id: "\${file:${secret}}"}\n`);
    await until(() => pauses.length >= 3);
    expect(follower.facts().lastError).toContain("secret");
    writeFileSync(secret, "test");
    await until(() => follower.reloads().applied === 1);
    expect(follower.facts().lastError).toBeUndefined();
    await stopped(follower);
    expect(follower.reloads()).toMatchObject({ applied: 1, refused: 1 });
    const waits =
      "something that the configuration refers to cannot be read: the last good one stays in force, and it is read again";
    expect(lines.filter(({ message }) => message === waits)).toHaveLength(1);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
  });

  test("is not read again when it is wrong in itself", async () => {
    const { path, follower, pauses } = await follow(async () => "applied");
    writeFileSync(path, "bridge: {id: test, log_level: loud}\n");
    await until(() => follower.reloads().refused === 1);
    await stopped(follower);
    expect(pauses).toEqual([]);
  });

  test("is followed no more after the stop, which does not wait for what is being applied", async () => {
    const begun = Promise.withResolvers<void>();
    const { write, follower, lines } = await follow(() => {
      begun.resolve();
      return Promise.withResolvers<"applied">().promise;
    });
    write(2);
    await begun.promise;
    await stopped(follower);
    write(3);
    follower.reload();
    await delay(30);
    expect(lines).toEqual([]);
  });
});

describe("spec 3.3: the shutdown", () => {
  test("gives the watch and the rollout up, and logs it, when they are still running at the end of the budget", async () => {
    const { follower, supervisor, logger, lines } = await follow(async () => "applied");
    await stopped(follower);
    const config = { ...supervisor.config(), bridge: { ...supervisor.config().bridge, shutdownTimeoutMs: 20 } };
    const opened = {
      supervisor: Object.assign(Object.create(supervisor) as typeof supervisor, {
        config: () => config,
        shutdown: async () => {},
      }),
      auditor: { emit() {}, [Symbol.asyncDispose]: async () => {} } as never,
      servers: undefined,
      follower: { stop: () => ({ watch: NEVER_ENDS, rollout: NEVER_ENDS }) },
    };
    expect(await shutDown(opened, { clock: systemClock, logger })).toBe(true);
    for (const stage of ["config watch", "rollout"]) {
      expect(lines).toContainEqual({
        message: "a stage of the shutdown is abandoned",
        fields: { stage, error: "still stopping after 20 ms" },
      });
    }
  });
});
