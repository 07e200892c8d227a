import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { AbortWatches } from "../../src/route/abort-watches.ts";
import { HandSource } from "../support/hand-source.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

test("finding 7.6: reloads leave no listener at a connection that outlives them", async () => {
  const source = new HandSource();
  const { signal } = new AbortController();
  const { clock, config, supervisor } = memoryBridge({ ...source.options(), quiesceTimeoutMs: 10_000 });
  await supervisor.start(bound());
  for (let reload = 1; reload <= 20; reload++) {
    source.message({ id: `${reload}`, subject: "s", payload: new Uint8Array() }, { signal });
    await clock.until(() => source.settled.length === reload, 1);
    const routes = config.routes.map((route) => ({
      ...route,
      policy: { ...route.policy, maxReplayAttempts: 5 + reload },
    }));
    const applied = supervisor.apply({ ...config, routes }, bound());
    await clock.until(() => supervisor.state().kind !== "swapping", 1);
    expect(await applied).toBe("applied");
  }
  expect(listenersOf(signal)).toBe(0);
  await supervisor.shutdown();
});

test("signals of single deliveries are forgotten when there are many, a thousand at a time", () => {
  const seen: AbortSignal[] = [];
  const inUse = new Set<AbortSignal>();
  let looks = 0;
  using watches = new AbortWatches(
    (signal) => void seen.push(signal),
    () => (looks++, inUse),
  );
  const controllers = Array.from({ length: 5_000 }, () => new AbortController());
  const [used] = controllers;
  if (used === undefined) throw new Error("no controller");
  inUse.add(used.signal);
  for (const { signal } of controllers) watches.watch(signal);
  // At the 1001st, and whenever a thousand have come to the one that is in use.
  expect(looks).toBe(4);
  expect(controllers.filter(({ signal }) => listenersOf(signal) > 0)).toHaveLength(1_001);
  used.abort();
  expect(seen).toEqual([used.signal]);
  // One that was forgotten may come with another delivery.
  const [, again] = controllers;
  if (again !== undefined) watches.watch(again.signal);
  again?.abort();
  expect(seen).toEqual([used.signal, again?.signal]);
});

test("signals that have aborted need not be looked for", () => {
  let looks = 0;
  using watches = new AbortWatches(
    () => {},
    () => (looks++, new Set()),
  );
  for (let i = 0; i < 5_000; i++) {
    const controller = new AbortController();
    watches.watch(controller.signal);
    controller.abort();
  }
  expect(looks).toBe(0);
});

test("a signal of many deliveries has one listener, and one that has aborted or is over has none", () => {
  const seen: AbortSignal[] = [];
  const [lost, kept] = [new AbortController(), new AbortController()];
  const watches = new AbortWatches(
    (signal) => void seen.push(signal),
    () => new Set(),
  );
  for (const { signal } of [lost, kept, lost, kept]) watches.watch(signal);
  expect([listenersOf(lost.signal), listenersOf(kept.signal)]).toEqual([1, 1]);
  lost.abort();
  expect(seen).toEqual([lost.signal]);
  watches[Symbol.dispose]();
  expect([listenersOf(lost.signal), listenersOf(kept.signal)]).toEqual([0, 0]);
  kept.abort();
  expect(seen).toEqual([lost.signal]);
});
