import { describe, expect, test } from "vitest";
import { bound, memoryBridge } from "../support/memory-bridge.ts";
import { type Manner, type OutboxAway, outboxAway } from "../support/store-away.ts";
import { twoRoutes, withAttempts, withRoute } from "../support/two-routes.ts";

const AWAY: readonly Manner[] = ["refuses", "hangs"];

function bridgeOn(away: OutboxAway) {
  return twoRoutes({ deliveryMode: "shared_outbox", outbox: away.store, clock: away.clock });
}

function boundedBridgeOn({ store, clock }: OutboxAway) {
  const budgets = { drainTimeoutMs: 2_000, quiesceTimeoutMs: 500 };
  return memoryBridge({ deliveryMode: "shared_outbox", outbox: store, clock, ...budgets });
}

describe.each(AWAY)("an outbox whose server %s", (manner) => {
  test("finding 2.2: keeps no bridge from starting; it works when the server does", async () => {
    const away = outboxAway(manner);
    const { hub, clock, supervisor } = bridgeOn(away);
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    expect(supervisor.state().kind).toBe("running");
    away.become("well");
    await clock.until(() => hub.channel("out").arrived === 1);
    await supervisor.shutdown();
    expect(supervisor.stats().unaccounted).toBe(0);
  });

  test("finding 2.1: keeps no route from being changed", async () => {
    const away = outboxAway("well");
    const bridge = bridgeOn(away);
    const { hub, clock, supervisor } = bridge;
    const config = withRoute(bridge.config, "q", (route) => ({ ...route, deliveryMode: "direct_hold" }));
    await supervisor.apply(config, bound());
    await supervisor.start(bound());
    away.become(manner);
    expect(await supervisor.apply(withAttempts(config, "q", 9), bound())).toBe("applied");
    expect(await supervisor.apply(withAttempts(config, "r", 9), bound())).toBe("applied");
    expect(supervisor.state().kind).toBe("running");
    hub.publish("in2", { id: "m1" });
    await clock.until(() => hub.channel("out2").arrived === 1);
    hub.publish("in", { id: "m2" });
    away.become("well");
    await clock.until(() => hub.channel("out").arrived === 1);
    await supervisor.shutdown();
    expect(supervisor.stats().unaccounted).toBe(0);
  });
});

test("a store that is asked nothing but a change is not taken for there until it has answered", async () => {
  const away = outboxAway("well");
  const bridge = bridgeOn(away);
  const { supervisor, config } = bridge;
  await supervisor.start(bound());
  expect(supervisor.view()).toMatchObject({ level: "full", stores: [{}, { role: "outbox", state: "up" }] });
  away.become("hangs");
  expect(await supervisor.apply(withAttempts(config, "q", 9), bound())).toBe("applied");
  expect(supervisor.view()).toMatchObject({ level: "subscribed", stores: [{}, { role: "outbox", state: "opening" }] });
  away.become("well");
  await expect.poll(() => supervisor.view().level).toBe("full");
  await supervisor.shutdown();
});

describe.each(AWAY)("an outbox whose server %s while a route is changed that", (manner) => {
  test("finding 2.3: has an end to enter is changed within drain_timeout, and what was not entered comes again", async () => {
    const away = outboxAway("well", false);
    const bridge = boundedBridgeOn(away);
    const { hub, clock, supervisor, config } = bridge;
    await supervisor.start(bound());
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("out").sends.held === 1);
    away.become(manner);
    hold[Symbol.dispose]();
    const startedAt = performance.now();
    expect(await supervisor.apply(withAttempts(config, "r", 9), bound())).toBe("applied");
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(supervisor.state().kind).toBe("running");
    away.become("well");
    await clock.until(() => hub.channel("out").arrived === 2, 100);
    await clock.until(() => supervisor.stats().legs.every((leg) => leg.inOutbox === 0));
    await supervisor.shutdown();
    expect(supervisor.stats().unaccounted).toBe(0);
  });

  test("finding 2.3: has a message to write is changed within drain_timeout, and the message stays at its source", async () => {
    const away = outboxAway("well", false);
    const bridge = boundedBridgeOn(away);
    const { hub, clock, supervisor, config } = bridge;
    await supervisor.start(bound());
    away.become(manner);
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").handedOut === 1);
    expect(await supervisor.apply(withAttempts(config, "r", 9), bound())).toBe("applied");
    expect(hub.channel("in").accepted).toBe(0);
    away.become("well");
    await clock.until(() => hub.channel("out").arrived === 1);
    await supervisor.shutdown();
    expect(supervisor.stats().unaccounted).toBe(0);
  });
});
