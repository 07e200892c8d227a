import type { DeliveryMode } from "@bridge/config";
import { describe, expect, test } from "vitest";
import { bound, memoryBridge, outage, refusal } from "../support/memory-bridge.ts";

const modes: readonly DeliveryMode[] = ["direct_hold", "shared_outbox"];

describe.each(modes)("a paused route (%s)", (deliveryMode) => {
  test("takes nothing from its receiver and sends nothing, until it is resumed", async () => {
    const { hub, clock, supervisor } = memoryBridge({ deliveryMode });
    await supervisor.start(bound());
    supervisor.pauseRoute("r");
    supervisor.pauseRoute("r");
    for (let at = 0; at < 5; at++) hub.publish("in", { id: `m${at}` });
    await clock.advance(60_000);
    expect(hub.channel("in").accepted).toBe(0);
    expect(hub.channel("out").arrived).toBe(0);
    expect(supervisor.stats().legs[0]?.attempts ?? 0).toBe(0);
    supervisor.resumeRoute("r");
    await clock.until(() => hub.channel("in").accepted === 5 && hub.channel("out").arrived === 5);
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("shows in the views, and keeps the level below full", async () => {
    const { supervisor } = memoryBridge({ deliveryMode });
    await supervisor.start(bound());
    supervisor.pauseRoute("r");
    expect(supervisor.view()).toMatchObject({ level: "subscribed", health: "ok", routes: [{ id: "r", paused: true }] });
    supervisor.resumeRoute("r");
    expect(supervisor.view()).toMatchObject({ level: "full", routes: [{ id: "r", paused: false }] });
    await supervisor.shutdown();
  });

  test("what waits for a retry waits for the pause as well, uncharged", async () => {
    const { hub, clock, supervisor } = memoryBridge({ deliveryMode });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, outage);
    hub.publish("in", { id: "m1" });
    await clock.until(() => supervisor.stats().legs[0]?.attempts === 1);
    supervisor.pauseRoute("r");
    await clock.advance(600_000);
    expect(supervisor.stats().legs[0]?.attempts).toBe(1);
    supervisor.resumeRoute("r");
    await clock.until(() => hub.channel("out").arrived === 1);
    await supervisor.shutdown();
  });

  test("a send that has begun may end", async () => {
    const { hub, clock, supervisor } = memoryBridge({ deliveryMode });
    await supervisor.start(bound());
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("out").sends.held === 1);
    supervisor.pauseRoute("r");
    hold[Symbol.dispose]();
    await clock.until(() => hub.channel("out").arrived === 1);
    expect(supervisor.stats().legs[0]?.dispositions.delivered).toBe(1);
    await supervisor.shutdown();
  });

  test("an inject is refused, and nothing becomes of it", async () => {
    const { hub, clock, supervisor } = memoryBridge({ deliveryMode });
    await supervisor.start(bound());
    supervisor.pauseRoute("r");
    const injected = supervisor.inject("r", { subject: "s", payload: new Uint8Array() }, { signal: bound() });
    await expect(injected).rejects.toMatchObject({ kind: "conflict", message: "the route is paused: resume it first" });
    supervisor.resumeRoute("r");
    await clock.advance(1_000);
    expect(hub.channel("out").arrived).toBe(0);
    await supervisor.shutdown();
  });

  test("a redrive is refused for that entry, which is kept", async () => {
    const bridge = memoryBridge({ deliveryMode });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, refusal);
    hub.publish("in", { id: "m1" });
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.dead_lettered === 1);
    const [entry] = await bridge.dlq.list({}, { limit: 1, offset: 0 }, bound());
    supervisor.pauseRoute("r");
    const result = await supervisor.redrive([entry?.id ?? ""], bound());
    expect(result).toMatchObject({ redriven: 0, errors: [{ error: "the route is paused: resume it first" }] });
    expect(await bridge.dlq.get(entry?.id ?? "", bound())).toBeDefined();
    await supervisor.shutdown();
  });

  test("outlasts a stop and a start, and keeps nobody from stopping", async () => {
    const { hub, clock, supervisor } = memoryBridge({ deliveryMode, quiesceTimeoutMs: 60_000, drainTimeoutMs: 60_000 });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, outage);
    hub.publish("in", { id: "m1" });
    await clock.until(() => supervisor.stats().legs[0]?.attempts === 1);
    supervisor.pauseRoute("r");
    await clock.advance(60_000);
    await supervisor.stop(bound());
    await supervisor.start(bound());
    await clock.advance(60_000);
    expect(hub.channel("out").arrived).toBe(0);
    supervisor.resumeRoute("r");
    await clock.until(() => hub.channel("out").arrived === 1);
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("a route that is not configured cannot be paused", () => {
    const { supervisor } = memoryBridge({ deliveryMode });
    expect(() => supervisor.pauseRoute("other")).toThrow('route not found: "other"; configured are "r"');
    expect(() => supervisor.resumeRoute("other")).toThrow("route not found");
  });
});

test("a stop waits for the send of a message that a former pause had held, though the route is paused again", async () => {
  const { hub, clock, supervisor } = memoryBridge({ quiesceTimeoutMs: 5_000, drainTimeoutMs: 10_000 });
  await supervisor.start(bound());
  hub.channel("out").sends.failNext(1, outage);
  hub.publish("in", { id: "m1" });
  await clock.until(() => supervisor.stats().legs[0]?.attempts === 1);
  supervisor.pauseRoute("r");
  await clock.advance(60_000);
  const hold = hub.channel("out").sends.hold();
  supervisor.resumeRoute("r");
  await hub.channel("out").until(({ sends }) => sends.held === 1, bound());
  supervisor.pauseRoute("r");
  const stopped = supervisor.stop(bound());
  hold[Symbol.dispose]();
  await stopped;
  expect(hub.channel("in").accepted).toBe(1);
  await supervisor.shutdown();
});
