import { BridgeError, type DlqStore, type Logger, silentLogger } from "@bridge/ports";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { describe, expect, test } from "vitest";
import type { SupervisorState } from "../../src/supervisor/contract.ts";
import { mayFollow } from "../../src/supervisor/transitions.ts";
import { turn } from "../support/fake-clock.ts";
import { bound, type MemoryBridge, memoryBridge, outage } from "../support/memory-bridge.ts";

const kinds: readonly SupervisorState["kind"][] = [
  "unwired",
  "starting",
  "running",
  "swapping",
  "stopping",
  "paused",
  "shutting_down",
  "terminal",
];

describe("spec 3.1: states of the bridge", () => {
  test("nothing follows the end, and everything before it may end", () => {
    for (const kind of kinds) {
      expect(mayFollow("terminal", kind)).toBe(false);
      expect(mayFollow("shutting_down", kind)).toBe(false);
    }
    for (const kind of kinds.slice(0, 6)) {
      expect(mayFollow(kind, "terminal")).toBe(true);
      expect(mayFollow(kind, "shutting_down")).toBe(true);
    }
  });

  test("before the first start the runtime is not wired: health unavailable, level live", () => {
    const { supervisor } = memoryBridge();
    expect(supervisor.view()).toMatchObject({ state: "unwired", health: "unavailable", level: "live", running: false });
  });

  test("start runs it, stop pauses it, a start after that is a fresh runtime; both are idempotent", async () => {
    const { hub, supervisor } = memoryBridge();
    await supervisor.start(bound());
    await supervisor.start(bound());
    expect(supervisor.view()).toMatchObject({ state: "running", health: "ok", running: true, level: "full" });
    await supervisor.stop(bound());
    await supervisor.stop(bound());
    expect(supervisor.view()).toMatchObject({ state: "paused", health: "not_running", running: false, level: "live" });
    hub.publish("in", { id: "m1" });
    await turn();
    expect(hub.channel("in").handedOut).toBe(0);
    await supervisor.start(bound());
    await hub.channel("in").waitForSettlements(1, bound());
    expect(supervisor.stats().legs[0]?.dispositions.delivered).toBe(1);
    await supervisor.shutdown();
  });

  test("requests that come together are served one at a time", async () => {
    const { supervisor } = memoryBridge();
    await Promise.all([
      supervisor.start(bound()),
      supervisor.stop(bound()),
      supervisor.start(bound()),
      supervisor.start(bound()),
    ]);
    expect(supervisor.state().kind).toBe("running");
    await supervisor.shutdown();
  });

  test("routes and their policies are there to see while it is stopped; sessions then are not connected", async () => {
    const { supervisor } = memoryBridge({ session: true });
    expect(supervisor.view()).toMatchObject({
      instanceId: "plant-a",
      configVersion: 3,
      routes: [{ id: "r", deliveryMode: "direct_hold", dispatchMode: "single", policy: { maxInFlight: 100 } }],
      sessions: [{ sessionId: "s", connected: false, ready: false, serviceLevel: "none" }],
    });
    await supervisor.shutdown();
  });

  test("a bridge without routes and sessions runs empty, at level running", async () => {
    const { supervisor } = memoryBridge({ empty: true });
    await supervisor.start(bound());
    expect(supervisor.view()).toMatchObject({ health: "ok", level: "running", empty: true, serviceLevel: "full" });
    await supervisor.shutdown();
  });

  test("a start that fails pauses the bridge, names the cause, closes what it opened, and can be tried again", async () => {
    const { hub, supervisor } = memoryBridge();
    hub.channel("in").opens.failNext(1, new BridgeError("UNAVAILABLE", "the port is taken"));
    await expect(supervisor.start(bound())).rejects.toMatchObject({
      kind: "conflict",
      message: "the bridge cannot start: the port is taken",
    });
    expect(supervisor.state()).toMatchObject({ kind: "paused", error: { message: "the port is taken" } });
    await supervisor.start(bound());
    expect(supervisor.state().kind).toBe("running");
    await supervisor.shutdown();
  });

  test("spec 7.2: a store type without a factory keeps the bridge from starting, with a message that says so", async () => {
    const { supervisor } = memoryBridge({
      config: (config) => ({ ...config, stores: { dlq: { type: "nowhere", reach: "instance", options: {} } } }),
    });
    await expect(supervisor.start(bound())).rejects.toThrow(/no store factory is registered for store type "nowhere"/);
    await supervisor.shutdown();
  });

  test("the caller's bound ends the wait, not the work: a later call joins it", async () => {
    const opening = Promise.withResolvers<DlqStore>();
    const { supervisor } = memoryBridge({ dlq: () => opening.promise });
    const impatient = new AbortController();
    const first = supervisor.start(impatient.signal);
    impatient.abort(new Error("no patience"));
    await expect(first).rejects.toThrow("no patience");
    expect(supervisor.state().kind).toBe("starting");
    const second = supervisor.start(bound());
    opening.resolve(openMemoryDlq({ maxEntries: 1 }));
    await second;
    expect(supervisor.state().kind).toBe("running");
    await supervisor.shutdown();
  });

  test("after a stop that failed a start finds the bridge beyond recovery: terminal, wedged", async () => {
    const bridge = wedged();
    await bridge.supervisor.start(bound());
    await expect(bridge.supervisor.stop(bound())).rejects.toMatchObject({ phases: ["sender out"] });
    expect(bridge.supervisor.state().kind).toBe("paused");
    await expect(bridge.supervisor.stop(bound())).rejects.toMatchObject({ phases: ["sender out"] });
    await expect(bridge.supervisor.start(bound())).rejects.toMatchObject({ kind: "conflict" });
    expect(await bridge.supervisor.terminated).toMatchObject({ kind: "terminal", cause: "wedged" });
    expect(bridge.supervisor.view()).toMatchObject({ state: "terminal", health: "not_running" });
    await expect(bridge.supervisor.start(bound())).rejects.toMatchObject({ kind: "conflict" });
    await expect(bridge.supervisor.shutdown()).rejects.toMatchObject({ phases: ["sender out"] });
  });

  test("what a failed start could not close again makes the next start find the bridge beyond recovery", async () => {
    const bridge = wedged();
    bridge.hub.channel("in").opens.failNext(1, new BridgeError("UNAVAILABLE", "the port is taken"));
    await expect(bridge.supervisor.start(bound())).rejects.toMatchObject({ kind: "conflict" });
    expect(bridge.supervisor.state().kind).toBe("paused");
    await expect(bridge.supervisor.start(bound())).rejects.toThrow("sender out");
    expect(bridge.supervisor.state()).toMatchObject({ kind: "terminal", cause: "wedged" });
  });
});

/** A bridge whose sender refuses to close. */
function wedged(): MemoryBridge {
  return memoryBridge({
    config: (config) => ({ ...config, senders: config.senders.map((sender) => ({ ...sender, transport: "stuck" })) }),
    transports: (memory) => [
      {
        type: "stuck",
        sender: {
          ...memory.sender,
          create: (options, context) => {
            const sender = memory.sender.create(options, context);
            return {
              send: (envelope, address, signal) => sender.send(envelope, address, signal),
              [Symbol.asyncDispose]: () => Promise.reject(new Error("will not close")),
            };
          },
        },
      },
    ],
  });
}

describe("spec 3.3: stopping", () => {
  test("what was unsettled may settle within the quiesce budget", async () => {
    const { hub, supervisor } = memoryBridge({ quiesceTimeoutMs: 5_000, drainTimeoutMs: 10_000 });
    await supervisor.start(bound());
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    const stopped = supervisor.stop(bound());
    await turn();
    expect(supervisor.view()).toMatchObject({ state: "stopping", level: "live", running: false });
    expect(supervisor.state()).toEqual({ kind: "stopping", phases: ["quiesce"] });
    hold[Symbol.dispose]();
    await stopped;
    expect(hub.channel("in").settlements()[0]?.settlement).toMatchObject({ outcome: "delivered" });
    await supervisor.shutdown();
  });

  test("what is left when the budget is spent is never acknowledged and falls to redelivery", async () => {
    const { hub, supervisor } = memoryBridge({ quiesceTimeoutMs: 20, drainTimeoutMs: 10_000 });
    await supervisor.start(bound());
    using _ = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    await supervisor.stop(bound());
    expect(hub.channel("in")).toMatchObject({ accepted: 0, released: 0, unsettled: 0 });
    expect(hub.channel("in").messages()).toHaveLength(1);
    expect(supervisor.stats().legs[0]).toMatchObject({ inFlight: 0, dispositions: { abandoned: 1 } });
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("pull sources keep pulling while it quiesces, and what they bring settles, too, before anything is cancelled", async () => {
    const { hub, supervisor } = memoryBridge({ quiesceTimeoutMs: 10_000, drainTimeoutMs: 20_000 });
    await supervisor.start(bound());
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "old" });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    const stopped = supervisor.stop(bound());
    await turn();
    hold[Symbol.dispose]();
    const later = hub.channel("out").sends.hold();
    hub.publish("in", { id: "young" });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    await hub.channel("in").until((channel) => channel.accepted === 1, bound());
    for (let turns = 0; turns < 20; turns++) await turn();
    hub.publish("in", { id: "late" });
    for (let turns = 0; turns < 20; turns++) await turn();
    later[Symbol.dispose]();
    await stopped;
    const idsIn = (channel: string): unknown =>
      hub
        .channel(channel)
        .messages()
        .map(({ id }) => id);
    expect([idsIn("out"), idsIn("in")]).toEqual([["old", "young"], ["late"]]);
    expect(supervisor.stats().legs[0]).toMatchObject({ dispositions: { delivered: 2, abandoned: 0 } });
    await supervisor.shutdown();
  });

  test("shutdown is idempotent, refuses later starts, and closes the stores", async () => {
    let closed = 0;
    const inner = openMemoryDlq({ maxEntries: 1 });
    const dlq: DlqStore = { ...inner, [Symbol.asyncDispose]: async () => void closed++ };
    const { supervisor } = memoryBridge({ dlq });
    await supervisor.start(bound());
    await supervisor.stop(bound());
    expect(supervisor.dlq()).toBe(dlq);
    await Promise.all([supervisor.shutdown(), supervisor.shutdown()]);
    expect(closed).toBe(1);
    await expect(supervisor.start(bound())).rejects.toMatchObject({
      kind: "conflict",
      message: "the bridge is shutting down",
    });
    expect(supervisor.view().level).toBe("live");
  });

  test("a store that does not close is named by its role", async () => {
    const inner = openMemoryDlq({ maxEntries: 1 });
    const dlq: DlqStore = { ...inner, [Symbol.asyncDispose]: () => Promise.reject(new Error("busy")) };
    const { supervisor } = memoryBridge({ dlq });
    await supervisor.start(bound());
    await expect(supervisor.shutdown()).rejects.toMatchObject({ phases: ["store dlq"] });
  });

  test("sessions are connected, subscribed, and closed again at the stop", async () => {
    const { hub, clock, supervisor } = memoryBridge({ session: true });
    await supervisor.start(bound());
    await clock.until(() => supervisor.view().level === "full");
    expect(supervisor.view().sessions).toMatchObject([
      {
        sessionId: "s",
        connected: true,
        subscriptionsWanted: 1,
        subscriptionsActive: 1,
        ready: true,
        serviceLevel: "full",
      },
    ]);
    await supervisor.stop(bound());
    expect([hub.link("s", "source").connected, hub.link("s", "target").connected]).toEqual([false, false]);
    await supervisor.shutdown();
  });
});

describe("sessions", () => {
  test("spec 3.2.5: a broker outage does not change health; the session reconnects by itself", async () => {
    const { hub, clock, supervisor } = memoryBridge({ session: true });
    hub.link("s", "source").down();
    await supervisor.start(bound());
    await clock.advance(60_000);
    expect(supervisor.view()).toMatchObject({ health: "ok", level: "running", serviceLevel: "none" });
    hub.link("s", "source").up();
    await clock.until(() => supervisor.view().level === "full", 100);
    const [stats] = supervisor.stats().sessions;
    expect(stats).toMatchObject({ sessionId: "s", connected: true, connects: 2 });
    expect(stats?.failures).toBeGreaterThan(2);
    await supervisor.shutdown();
  });

  test("a subscription that the broker refuses leaves the session degraded and is asked for again", async () => {
    const { hub, clock, supervisor } = memoryBridge({ session: true });
    hub.link("s", "source").refuseSubscriptions(["in"]);
    await supervisor.start(bound());
    await clock.until(() => supervisor.view().level === "connected");
    expect(supervisor.view().sessions[0]).toMatchObject({ connected: true, ready: false, serviceLevel: "none" });
    hub.link("s", "source").refuseSubscriptions([]);
    await clock.until(() => supervisor.view().level === "full", 100);
    await supervisor.shutdown();
  });

  test("reconnecting pauses longer after each failure in a row", async () => {
    const waits: number[] = [];
    const logger: Logger = {
      ...silentLogger,
      child: () => logger,
      warn: (_message, fields) =>
        void (typeof fields?.["retry_in_ms"] === "number" && waits.push(fields["retry_in_ms"])),
    };
    const { hub, clock, supervisor } = memoryBridge({ session: true, logger });
    hub.link("s", "source").connects.failNext(6, outage);
    await supervisor.start(bound());
    await clock.until(() => supervisor.view().level === "full", 100);
    expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 6_400]);
    await supervisor.shutdown();
  });
});

test("500 starts and stops leave nothing behind", async () => {
  const { hub, clock, supervisor } = memoryBridge({ session: true });
  for (let cycle = 0; cycle < 500; cycle++) {
    await supervisor.start(bound());
    await clock.until(() => supervisor.view().level === "full");
    hub.publish("in", { id: `m${cycle}` });
    await hub.channel("in").waitForSettlements(cycle + 1, bound());
    await supervisor.stop(bound());
  }
  expect(supervisor.stats().legs[0]).toMatchObject({ received: 500, dispositions: { delivered: 500 } });
  // The looks at the store and for its jobs: it stays open until the shutdown.
  expect(clock.pending).toBe(2);
  await supervisor.shutdown();
  expect(clock.pending).toBe(0);
});
