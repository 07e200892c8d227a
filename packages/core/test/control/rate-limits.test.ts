import type { BridgeConfig, DeliveryMode, RateLimit } from "@bridge/config";
import { describe, expect, test } from "vitest";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

const modes: readonly DeliveryMode[] = ["direct_hold", "shared_outbox"];
const tenASecond: RateLimit = { messagesPerSecond: 10, burst: 1 };

const onRoute = (config: BridgeConfig): BridgeConfig => ({
  ...config,
  routes: config.routes.map((route) => ({ ...route, rateLimit: tenASecond })),
});
const onSender = (config: BridgeConfig): BridgeConfig => ({
  ...config,
  senders: config.senders.map((sender) => ({ ...sender, rateLimit: tenASecond })),
});

describe.each(modes)("rate_limit (%s)", (deliveryMode) => {
  test("of a route: its receiver hands over no more; what waits is unsettled", async () => {
    const { hub, clock, supervisor } = memoryBridge({ deliveryMode, config: onRoute });
    await supervisor.start(bound());
    for (let at = 0; at < 40; at++) hub.publish("in", { id: `m${at}` });
    await clock.advance(1_000);
    expect(hub.channel("in").accepted).toBeGreaterThanOrEqual(10);
    expect(hub.channel("in").accepted).toBeLessThanOrEqual(12);
    expect(hub.channel("in").unsettled).toBeLessThanOrEqual(1);
    await clock.until(() => hub.channel("out").arrived === 40);
    await supervisor.shutdown();
  });

  test("of a route: what an operator injects does not count", async () => {
    const { clock, hub, supervisor } = memoryBridge({ deliveryMode, config: onRoute });
    await supervisor.start(bound());
    const before = clock.monotonic();
    const message = { subject: "s", payload: new Uint8Array() };
    await Promise.all(Array.from({ length: 20 }, () => supervisor.inject("r", message, { signal: bound() })));
    expect(hub.channel("out").arrived).toBe(20);
    expect(clock.monotonic()).toBe(before);
    await supervisor.shutdown();
  });

  test("of a sender: its target gets no more; nothing is charged for waiting, and order is kept", async () => {
    const { hub, clock, supervisor } = memoryBridge({ deliveryMode, config: onSender });
    await supervisor.start(bound());
    for (let at = 0; at < 40; at++) hub.publish("in", { id: `m${at}`, orderingKey: "k" });
    const end = clock.monotonic() + 2_000;
    await clock.until(() => clock.monotonic() >= end, 2);
    expect(hub.channel("out").arrived).toBeGreaterThanOrEqual(10);
    expect(hub.channel("out").arrived).toBeLessThanOrEqual(22);
    await clock.until(() => hub.channel("out").arrived === 40);
    expect(supervisor.stats().legs[0]?.attempts).toBe(40);
    const ids = hub
      .channel("out")
      .messages()
      .map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 40 }, (_, at) => `m${at}`));
    await supervisor.shutdown();
  });

  test("of a sender: what waits for its turn is abandoned by a stop, not sent in a hurry", async () => {
    const { hub, clock, supervisor } = memoryBridge({ deliveryMode, config: onSender });
    await supervisor.start(bound());
    for (let at = 0; at < 40; at++) hub.publish("in", { id: `m${at}` });
    await clock.advance(500);
    const stopping = supervisor.stop(bound());
    await clock.advance(200);
    await stopping;
    expect(hub.channel("out").arrived).toBeLessThanOrEqual(9);
    expect(supervisor.stats()).toMatchObject({ unaccounted: 0 });
    await supervisor.shutdown();
  });
});
