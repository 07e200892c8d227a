import type { BridgeConfig } from "@bridge/config";
import { openMemoryLeases } from "@bridge/memory";
import type { DeadLetter } from "@bridge/ports";
import { expect, test } from "vitest";
import { build } from "../../src/runtime/build.ts";
import { Runtime } from "../../src/runtime/runtime.ts";
import { bound } from "../support/memory-bridge.ts";
import { partsOf } from "../support/parts-of.ts";
import { runtimeOf } from "../support/runtime-of.ts";

/** What it sends goes over the exclusive session `s`; what it takes comes over the session `q`, or over none. */
function sendingUnderALease(config: BridgeConfig, overASession: boolean): BridgeConfig {
  const sessionId = overASession ? "q" : undefined;
  return {
    ...config,
    sessions: [...config.sessions, { id: "q", transport: "memory", sessionMode: "persistent", options: {} }],
    receivers: config.receivers.map((part) => ({ ...part, sessionId })),
  };
}

/** A runtime whose route may not send, because another instance has the lease, and how to replace that route by its like. */
async function standby(overASession: boolean) {
  const { bridge, built, parts } = partsOf({
    session: true,
    leases: () => openMemoryLeases({ name: "unused" }),
    config: (config) => sendingUnderALease(config, overASession),
  });
  const { clock, random, logger, budgets } = built;
  let askedAnew = 0;
  for (const intake of parts.intakes.values()) intake.restart = () => void askedAnew++;
  for (const lease of parts.leases.values()) lease.seenElsewhere(true);
  const runtime = new Runtime({
    clock,
    random,
    logger,
    budgets,
    parts,
    keepLease: () => new Promise(() => {}),
    leaseLost: () => {},
  });
  await runtime.start(bound());
  return {
    bridge,
    runtime,
    parts,
    replaceRoute: async () => {
      const stays = [...parts.leases, ...parts.links, ...parts.intakes, ...parts.senders].map(([key]) => key);
      const next = build({ ...built, kept: { parts, keys: new Set(stays) } });
      await runtime.retire(next);
      askedAnew = 0;
      await runtime.adopt(next, bound());
      return askedAnew;
    },
  };
}

test("a source that has no session is asked anew when its route is replaced by one that only another instance may serve", async () => {
  const { bridge, replaceRoute } = await standby(false);
  let askedAnew: number | undefined;
  void replaceRoute().then((times) => (askedAnew = times));
  await bridge.clock.until(() => askedAnew !== undefined);
  expect(askedAnew).toBe(1);
});

test("a source that stands by already is left alone", async () => {
  const { bridge, parts, replaceRoute } = await standby(true);
  const link = [...parts.links.values()].find(({ sessionId }) => sessionId === "q")!;
  await bridge.clock.until(() => link.standsBy);
  let askedAnew: number | undefined;
  void replaceRoute().then((times) => (askedAnew = times));
  await bridge.clock.until(() => askedAnew !== undefined);
  expect(askedAnew).toBe(0);
});

test("while a route is replaced its dead letters wait, before and after they fail at once if it is not there", async () => {
  const { runtime } = runtimeOf({ empty: true });
  await runtime.start(bound());
  expect(runtime.standing("r")).toEqual({ kind: "ready" });
  const retired = runtime.retire(runtime.parts);
  expect(runtime.standing("r")).toEqual({ kind: "soon" });
  await retired;
  expect(runtime.standing("r")).toEqual({ kind: "soon" });
  await runtime.adopt(runtime.parts, bound());
  expect(runtime.standing("r")).toEqual({ kind: "ready" });
  const adopted = runtime.adopt(runtime.parts, bound());
  expect(runtime.standing("r")).toEqual({ kind: "soon" });
  await adopted;
  await runtime.stop();
});

test("nothing is redriven before a runtime runs, nor after: what was asked for has not begun", async () => {
  const { runtime } = runtimeOf();
  const entry = { routeId: "r", bindingId: "out" } as DeadLetter;
  const refused = { kind: "not_begun" };
  await expect(runtime.replay(entry, bound())).rejects.toMatchObject(refused);
  await runtime.start(bound());
  await runtime.stop();
  await expect(runtime.replay(entry, bound())).rejects.toMatchObject(refused);
});
