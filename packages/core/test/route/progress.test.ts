import { describe, expect, test } from "vitest";
import type { RouteProgress } from "../../src/view/bridge-view.ts";
import {
  bound,
  memoryBridge,
  type MemoryBridge,
  type MemoryBridgeOptions,
  outage,
  refusal,
} from "../support/memory-bridge.ts";

const SEND_TIMEOUT_MS = 1_000;

async function started(options: MemoryBridgeOptions = {}): Promise<MemoryBridge> {
  const bridge = memoryBridge({ ...options, policy: { sendTimeoutMs: SEND_TIMEOUT_MS, ...options.policy } });
  await bridge.supervisor.start(bound());
  return bridge;
}

function progressOf({ supervisor }: MemoryBridge): RouteProgress | undefined {
  return supervisor.view().routes[0]?.progress;
}

async function becomes(bridge: MemoryBridge, progress: string, withinMs: number): Promise<void> {
  const from = bridge.clock.now();
  while (progressOf(bridge)?.progress !== progress && bridge.clock.now() - from <= withinMs)
    await bridge.clock.advance(100);
  expect({ ...progressOf(bridge) }).toMatchObject({ progress });
}

/** How it is seen to get on, twice a second. */
async function seenIn(bridge: MemoryBridge, ms: number): Promise<Set<string | undefined>> {
  const seen = new Set<string | undefined>();
  for (let at = 0; at < ms; at += 500) {
    await bridge.clock.advance(500);
    seen.add(progressOf(bridge)?.progress);
  }
  return seen;
}

describe.each(["direct_hold", "shared_outbox"] as const)("finding 8.3: in %s", (deliveryMode) => {
  test("a target that never answers is named stalled within twice the send_timeout, and is forgotten when it answers", async () => {
    const bridge = await started({ deliveryMode });
    const { hub, clock, supervisor } = bridge;
    expect(progressOf(bridge)).toMatchObject({ progress: "idle", oldestUnsettledMs: 0 });
    hub.publish("in", { id: "m0" });
    await hub.channel("in").waitForSettlements(1, bound());
    await clock.advance(500);
    expect(progressOf(bridge)).toMatchObject({ progress: "moving", failureShare: 0 });
    const hold = hub.channel("out").sends.hold();
    for (let at = 1; at < 4; at++) hub.publish("in", { id: `m${at}` });
    const at = clock.now();
    await becomes(bridge, "stalled", 2 * SEND_TIMEOUT_MS);
    expect(progressOf(bridge)?.reason).toContain("binding out: nothing was delivered");
    expect(progressOf(bridge)?.since).toBeGreaterThan(at);
    if (deliveryMode === "direct_hold") expect(progressOf(bridge)?.oldestUnsettledMs).toBeGreaterThan(1_000);
    hold[Symbol.dispose]();
    await becomes(bridge, "moving", 20_000);
    await becomes(bridge, "idle", 60_000);
    await supervisor.shutdown();
  });

  test("a target that refuses everything is named failing, with why, also while its messages go to the DLQ", async () => {
    const bridge = await started({ deliveryMode });
    const { hub, clock, supervisor } = bridge;
    hub.channel("out").sends.failNext(Infinity, refusal);
    for (const id of ["m1", "m2"]) hub.publish("in", { id });
    await becomes(bridge, "failing", 2 * SEND_TIMEOUT_MS);
    expect(progressOf(bridge)).toMatchObject({
      failureShare: 1,
      reason: expect.stringContaining("REJECTED") as string,
    });
    hub.channel("out").sends.failNext(0, outage);
    await clock.advance(120_000);
    expect(progressOf(bridge)).toMatchObject({ progress: "idle" });
    expect(progressOf(bridge)).not.toHaveProperty("failureShare");
    await supervisor.shutdown();
  });

  test("one message that is refused is no failing of the route when others were long ago, with nothing to do since", async () => {
    const bridge = await started({ deliveryMode });
    const { hub, clock, supervisor } = bridge;
    hub.channel("out").sends.failNext(3, refusal);
    for (const id of ["m1", "m2"]) hub.publish("in", { id });
    await becomes(bridge, "failing", 2 * SEND_TIMEOUT_MS);
    await clock.advance(120_000);
    hub.publish("in", { id: "m3" });
    expect(await seenIn(bridge, 70_000)).toEqual(new Set(["idle", "moving"]));
    expect(hub.channel("in").settlements()).toHaveLength(3);
    await supervisor.shutdown();
  });

  test("one message that is refused, before and after others that arrive, is no failing of the route", async () => {
    const bridge = await started({ deliveryMode });
    const { hub, supervisor } = bridge;
    for (const id of ["m1", "m3"]) {
      hub.channel("out").sends.failNext(1, refusal);
      hub.publish("in", { id });
      expect(await seenIn(bridge, 70_000)).toEqual(new Set(["idle", "moving"]));
      expect(progressOf(bridge)?.progress).toBe("idle");
      hub.publish("in", { id: `${id}-next` });
      expect(await seenIn(bridge, 2_000)).toEqual(new Set(["moving"]));
    }
    await supervisor.shutdown();
  });

  test("one message that nobody answered, and that went its way, is no standstill of a route that has nothing to do", async () => {
    const bridge = await started({ deliveryMode, policy: { maxReplayAttempts: 1 } });
    const { hub, clock, supervisor } = bridge;
    hub.channel("out").sends.failNext(1, refusal);
    hub.publish("in", { id: "m1" });
    await clock.advance(30_000);
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m2" });
    expect(await seenIn(bridge, 70_000)).not.toContain("stalled");
    expect(progressOf(bridge)?.progress).toBe("idle");
    hub.publish("in", { id: "m3" });
    expect(await seenIn(bridge, 70_000)).toEqual(new Set(["idle", "moving"]));
    expect(supervisor.stats().legs[0]?.dispositions).toMatchObject({ delivered: 0, dead_lettered: 3 });
    hold[Symbol.dispose]();
    await supervisor.shutdown();
  });

  test("a target that answers no message is a standstill, also while each went its way before the next one came", async () => {
    const bridge = await started({ deliveryMode, policy: { maxReplayAttempts: 1 } });
    const { hub, clock, supervisor } = bridge;
    const hold = hub.channel("out").sends.hold();
    for (const id of ["m1", "m2"]) {
      hub.publish("in", { id });
      await clock.advance(20_000);
    }
    expect(progressOf(bridge)?.progress).toBe("stalled");
    hold[Symbol.dispose]();
    await supervisor.shutdown();
  });

  test("the time in which there was nothing to do is no time without a delivery", async () => {
    const bridge = await started({ deliveryMode });
    const { hub, clock, supervisor } = bridge;
    hub.publish("in", { id: "m0" });
    await hub.channel("in").waitForSettlements(1, bound());
    await clock.advance(60_000);
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    const at = clock.now();
    await becomes(bridge, "stalled", 3 * SEND_TIMEOUT_MS);
    expect(clock.now() - at).toBeGreaterThanOrEqual(2 * SEND_TIMEOUT_MS - 100);
    expect(progressOf(bridge)?.reason).toMatch(/nothing was delivered for 2(?:\.\d)? s/);
    hold[Symbol.dispose]();
    await clock.advance(60_000);
    hub.channel("out").sends.failNext(2, outage);
    hub.publish("in", { id: "m2" });
    await becomes(bridge, "failing", 5 * SEND_TIMEOUT_MS);
    expect(progressOf(bridge)?.reason).toBe(
      "binding out: 2 of the last 2 attempts were refused; the last with UNAVAILABLE",
    );
    await supervisor.shutdown();
  });

  test("a pause is waited for, and said to be", async () => {
    const bridge = await started({ deliveryMode });
    const { supervisor, clock } = bridge;
    supervisor.pauseRoute("r");
    expect(progressOf(bridge)).toMatchObject({ progress: "waiting", reason: "an operator has paused it" });
    supervisor.resumeRoute("r");
    await clock.advance(100);
    expect(progressOf(bridge)).toMatchObject({ progress: "idle" });
    await supervisor.shutdown();
  });

  test("an hour without a message is idle all the while", async () => {
    const bridge = await started({ deliveryMode, policy: { sendTimeoutMs: 10_000 } });
    const seen = new Set<string | undefined>();
    const since = progressOf(bridge)?.since;
    for (let minute = 0; minute < 60; minute++) {
      await bridge.clock.advance(60_000);
      seen.add(progressOf(bridge)?.progress);
    }
    expect([...seen]).toEqual(["idle"]);
    expect(progressOf(bridge)?.since).toBe(since);
    await bridge.supervisor.shutdown();
  });
});

test("a target that refuses is named failing, also while the source repeats what went to it before", async () => {
  const bridge = await started({ deliveryMode: "shared_outbox" });
  const { hub, clock, supervisor } = bridge;
  hub.publish("in", { id: "m0" });
  await hub.channel("in").waitForSettlements(1, bound());
  await clock.advance(30_000);
  hub.channel("out").sends.failNext(Infinity, refusal);
  for (const id of ["m1", "m2"]) hub.publish("in", { id });
  await becomes(bridge, "failing", 2 * SEND_TIMEOUT_MS);
  for (let times = 0; times < 3; times++) hub.publish("in", { id: "m0" });
  await hub.channel("in").waitForSettlements(6, bound());
  await clock.advance(5_000);
  expect(supervisor.stats().legs[0]?.dispositions).toMatchObject({ delivered: 1, duplicate: 3 });
  expect(progressOf(bridge)).toMatchObject({ progress: "failing", failureShare: 2 / 3 });
  await supervisor.shutdown();
});

test("finding 8.3: what failed in the last minute is a share of what was tried at all of its bindings", async () => {
  const bridge = await started({ dispatchMode: "fan_out", bindings: ["refuses", "silent", "takes"] });
  const { hub, clock, supervisor } = bridge;
  hub.channel("refuses").sends.failNext(1, refusal);
  using hold = hub.channel("silent").sends.hold();
  hub.publish("in", { id: "m1" });
  await clock.advance(SEND_TIMEOUT_MS + 500);
  expect(progressOf(bridge)?.failureShare).toBe(2 / 3);
  hold[Symbol.dispose]();
  await supervisor.shutdown();
});

test("finding 8.3: a full outbox is waited for, while records still leave it", async () => {
  const bridge = await started({ deliveryMode: "shared_outbox", policy: { maxOutboxDepth: 1, sendTimeoutMs: 5_000 } });
  const { hub, clock, supervisor } = bridge;
  using hold = hub.channel("out").sends.hold();
  for (let at = 0; at < 3; at++) hub.publish("in", { id: `m${at}` });
  await clock.until(() => progressOf(bridge)?.progress === "waiting");
  expect(progressOf(bridge)?.reason).toBe("the outbox is full: max_outbox_depth is 1, records not delivered yet: 1");
  hold[Symbol.dispose]();
  await becomes(bridge, "moving", 20_000);
  await supervisor.shutdown();
});

test("finding 8.3: a bridge that is stopped tells no progress", async () => {
  const bridge = await started();
  await bridge.supervisor.stop(bound());
  expect(progressOf(bridge)).toBeUndefined();
  await bridge.supervisor.shutdown();
});
