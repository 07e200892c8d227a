import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type BridgeConfig, createRegistry } from "@bridge/config";
import { createSupervisor, OperationError } from "@bridge/core";
import { type LogFields, type Logger, silentLogger, systemClock } from "@bridge/ports";
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

/** A file that is followed, and what `apply` makes of it. */
async function follow(apply: Apply) {
  const path = join(folder, "bridge.yaml");
  const write = (version: number): void => writeFileSync(path, `config_version: ${version}\nbridge: {id: test}\n`);
  write(1);
  const lines: { message: string; fields: LogFields | undefined }[] = [];
  const note = (message: string, fields?: LogFields): void => void lines.push({ message, fields });
  const logger: Logger = { ...silentLogger, info: note, warn: note, error: note };
  const watch = () => ({ mode: "notify", pollIntervalMs: 60_000, debounceMs: 1 }) as const;
  const origin = fileOrigin(path, { env: {}, watch });
  const { store } = origin;
  const source = new ConfigSource({ origin, registry, logger });
  const first = await source.read(NEVER);
  if (!first.ok) throw new Error(first.error);
  const supervisor = createSupervisor({ config: first.config, registry });
  const follower = new ConfigFollower({
    source,
    supervisor: { apply: (config) => apply(config), view: () => supervisor.view() },
    transactions: { underWay: undefined },
    keys: () => {},
    clock: { ...systemClock, delay: (ms, signal) => systemClock.delay(ms / 100, signal) },
    logger,
  });
  follower.start();
  return { path, write, store, follower, supervisor, logger, lines };
}

async function stopped(follower: ConfigFollower): Promise<void> {
  const { watch, rollout } = follower.stop();
  await Promise.all([watch, rollout]);
}

async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + 20_000; !holds(); await delay(5)) {
    if (performance.now() > end) throw new Error("it did not happen within 20 s");
  }
}

describe("a source that is followed", () => {
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
    expect(await shutDown(opened, logger)).toBe(true);
    for (const stage of ["config watch", "rollout"]) {
      expect(lines).toContainEqual({
        message: "a stage of the shutdown is abandoned",
        fields: { stage, error: "still stopping after 20 ms" },
      });
    }
  });
});
