import { type BridgeConfig, createRegistry, type NotApplied } from "@bridge/config";
import { MemoryDocument, openMemoryConfig } from "@bridge/memory";
import { createSupervisor } from "@bridge/core";
import { BridgeError, type ConfigStore, type Logger, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { describe, expect, onTestFinished, test } from "vitest";
import { ConfigFollower } from "../src/config-follower.ts";
import { storeOrigin } from "../src/config-origin.ts";
import { ConfigSource } from "../src/config-source.ts";
import { configWatchOf } from "../src/config-watch.ts";
import { tellUnconfirmed } from "../src/unconfirmed-commit.ts";

const NEVER = new AbortController().signal;
const registry = createRegistry({});
const sources = { env: () => undefined, file: () => Promise.reject(new Error("it is not there")) };
const documentOf = (version: number) => ({ config_version: version, bridge: { id: "test" } });

/** An instance that follows a document which others share. */
async function follow(store: ConfigStore, underWay: () => Promise<unknown> | undefined = () => undefined) {
  const origin = storeOrigin(store, sources);
  const source = new ConfigSource({ origin, registry, clock: systemClock, logger: silentLogger });
  const first = await source.read(NEVER);
  if (!first.ok) throw new Error(first.error);
  const supervisor = createSupervisor({ config: first.config, registry });
  const applied: number[] = [];
  const apply = async ({ configVersion }: BridgeConfig) => {
    applied.push(configVersion);
    return "applied" as const;
  };
  let left: NotApplied | undefined;
  const transactions = {
    get underWay() {
      return underWay();
    },
    triesOver: () => false,
    followed: () => void (left = undefined),
    notApplied: () => left,
    confirmable: () => undefined,
    withdrawn: () => undefined,
  };
  const clock = { ...systemClock, delay: (_: number, signal: AbortSignal) => systemClock.delay(1, signal) };
  const view = () => supervisor.view();
  const seams = { clock, random: systemRandom(), logger: silentLogger };
  const given = { ...seams, source, supervisor: { apply, view }, transactions, keys: () => {} };
  const follower = new ConfigFollower(given);
  follower.start();
  onTestFinished(async () => {
    const { watch, rollout } = follower.stop();
    await Promise.all([watch, rollout]);
  });
  /** As of a commit of this instance that was overtaken by what could not be applied. */
  const leave = (one: NotApplied): void => void (left = one);
  return { follower, applied, leave, lastError: () => configWatchOf(follower, transactions).lastError };
}

describe("an instance that follows a document which others share", () => {
  test("takes what is confirmed, and shows what is staged", async () => {
    const held = new MemoryDocument(documentOf(1));
    const { follower, applied } = await follow(openMemoryConfig(held));
    const { staging } = openMemoryConfig(held);
    const stored = await openMemoryConfig(held).load(NEVER);
    if (staging === undefined || stored === undefined) throw new Error("the model has both");
    const request = { by: "plant-7-b", at: 1_000, leftBehindBefore: 0 };
    const staged = await staging.stage({ bridge: { id: "test", log_level: "debug" } }, stored, request, NEVER);
    if (staged === undefined) throw new Error("nothing was in the way");
    expect(follower.facts().staged).toMatchObject({ version: 2, by: "plant-7-b", at: 1_000 });
    expect(applied).toEqual([]);
    await staging.confirm(staged, NEVER);
    await expect.poll(() => applied).toEqual([2]);
    expect(follower.facts().staged).toBeUndefined();
  });

  test("applies nothing while a commit of its own is under way, and only what is stored after it", async () => {
    const held = new MemoryDocument(documentOf(1));
    const commit = Promise.withResolvers<void>();
    let underWay: Promise<unknown> | undefined = commit.promise;
    const { follower, applied } = await follow(openMemoryConfig(held), () => underWay);
    held.replace(documentOf(2));
    follower.reload();
    await systemClock.delay(30, NEVER);
    expect(applied).toEqual([]);
    held.replace(documentOf(3));
    underWay = undefined;
    commit.resolve();
    await expect.poll(() => applied.at(-1)).toBe(3);
    expect(applied).not.toContain(2);
  });

  test("tells what its commit has left stored until it brings that, or a newer one, into force", async () => {
    const held = new MemoryDocument(documentOf(1));
    const { follower, leave, lastError } = await follow(openMemoryConfig(held));
    leave({ version: 2, error: "version 2 is stored and does not run" });
    held.replace({ nonsense: true });
    await expect.poll(() => follower.reloads().refused).toBe(1);
    await expect.poll(lastError).toContain("nonsense");
    held.replace(documentOf(3));
    await expect.poll(lastError).toBeUndefined();
    leave({ version: 3, error: "version 3 is stored and does not run" });
    expect(lastError()).toBe("version 3 is stored and does not run");
    follower.reload();
    await expect.poll(lastError).toBeUndefined();
  });

  test("asks again when it cannot ask whether what it was told is still stored, and says so meanwhile", async () => {
    const held = new MemoryDocument(documentOf(1));
    const store = openMemoryConfig(held);
    let fails = false;
    const load = store.load.bind(store);
    store.load = (signal) => (fails ? Promise.reject(new BridgeError("THROTTLED", "the table is busy")) : load(signal));
    const { follower, applied } = await follow(store);
    fails = true;
    held.replace(documentOf(2));
    await expect.poll(() => follower.facts().lastError).toBe("the table is busy");
    expect(applied).toEqual([]);
    fails = false;
    await expect.poll(() => applied).toEqual([2]);
    expect(follower.facts().lastError).toBeUndefined();
  });
});

test("a start says what was staged and never confirmed, and by whom", async () => {
  const store = openMemoryConfig(new MemoryDocument(documentOf(1)));
  const lines: unknown[] = [];
  const logger: Logger = { ...silentLogger, warn: (message, fields) => void lines.push([message, fields]) };
  await tellUnconfirmed(store, 1, { clock: systemClock, logger }, NEVER);
  expect(lines).toEqual([]);
  const stored = await store.load(NEVER);
  if (stored === undefined) throw new Error("it was given one");
  const request = { by: "plant-7-b", at: Date.UTC(2026, 0, 1), leftBehindBefore: 0 };
  await store.staging?.stage(documentOf(0), stored, request, NEVER);
  await tellUnconfirmed(store, 1, { clock: systemClock, logger }, NEVER);
  expect(lines).toEqual([
    [
      "another version is staged and not confirmed: it is being committed, or was left behind, and does not run",
      { config_version: 1, staged_version: 2, staged_by: "plant-7-b", staged_at: "2026-01-01T00:00:00.000Z" },
    ],
  ]);
});
