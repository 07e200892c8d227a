import type { BridgeConfig } from "@bridge/config";
import type { OutboxBacklog, Processor } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { bound, type MemoryBridge, memoryBridge, outage } from "../support/memory-bridge.ts";
import { movedTo, without } from "../support/moved-to.ts";
import { withRoute } from "../support/two-routes.ts";

type Change = (config: BridgeConfig) => BridgeConfig;

const LEAVING: readonly (readonly [string, Change])[] = [
  ["gives the outbox another place", movedTo("outbox", "elsewhere")],
  ["takes the outbox away", (config) => without("outbox")({ ...config, routes: [] })],
  [
    "makes the route direct_hold",
    (config) => withRoute(config, "r", (route) => ({ ...route, deliveryMode: "direct_hold" })),
  ],
  ["removes the route", (config) => ({ ...config, routes: [] })],
  ["renames the route", (config) => withRoute(config, "r", (route) => ({ ...route, id: "other" }))],
  [
    "renames the binding",
    (config) => ({
      ...config,
      bindings: config.bindings.map((binding) => ({ ...binding, id: "other" })),
      routes: config.routes.map((route) => ({ ...route, bindings: ["other"], resolver: { type: "all" as const } })),
    }),
  ],
];

/** A bridge with one record in its outbox, which its target does not take. */
async function withBacklog(options: Parameters<typeof memoryBridge>[0] = {}): Promise<MemoryBridge> {
  const bridge = memoryBridge({ deliveryMode: "shared_outbox", policy: { maxReplayAttempts: 1_000 }, ...options });
  bridge.hub.channel("out").sends.failNext(1_000, outage);
  await bridge.supervisor.start(bound());
  bridge.hub.publish("in", { id: "m1" });
  await bridge.hub.channel("in").waitForSettlements(1, bound());
  return bridge;
}

/** Lets fake time pass until it has settled; a bound of the machine's time may end it, so that steps do not count. */
async function whileTimePasses<T>({ clock }: MemoryBridge, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const done = work.finally(() => over.abort());
  done.catch(() => {});
  while (!over.signal.aborted) await clock.advance(100);
  return done;
}

describe("finding 4.1: a change strands nothing", () => {
  test("nor what comes into the outbox only while its route retires: then the change is undone", async () => {
    const gate = Promise.withResolvers<void>();
    const processor: Processor = {
      async process(envelope) {
        await gate.promise;
        return { kind: "pass", envelope };
      },
    };
    const policy = { maxReplayAttempts: 1_000 };
    const bridge = memoryBridge({
      deliveryMode: "shared_outbox",
      policy,
      processors: [processor],
      quiesceTimeoutMs: 1_000,
    });
    const { hub, supervisor, config } = bridge;
    hub.channel("out").sends.failNext(1_000, outage);
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    await hub.channel("in").until(({ unsettled }) => unsettled === 1, bound());
    const applied = supervisor.apply({ ...config, routes: [] }, bound());
    await bridge.clock.until(() => supervisor.state().kind === "swapping");
    gate.resolve();
    await expect(whileTimePasses(bridge, applied)).rejects.toMatchObject({ kind: "stranding" });
    expect(supervisor.view().routes.map(({ id }) => id)).toEqual(["r"]);
    hub.channel("out").sends.clear();
    await bridge.clock.until(() => hub.channel("out").arrived === 1);
    await supervisor.shutdown();
  });

  test.each(LEAVING)("a change that %s while a record waits is refused and changes nothing", async (_, change) => {
    const bridge = await withBacklog();
    const { supervisor, config } = bridge;
    const next = change(config);
    const stranding = await whileTimePasses(bridge, supervisor.stranding(next, bound()));
    expect(stranding?.stranded).toEqual([{ store: "outbox", routeId: "r", bindingId: "out", waiting: 1 }]);
    await expect(whileTimePasses(bridge, supervisor.apply(next, bound()))).rejects.toMatchObject({
      kind: "stranding",
      message: stranding?.message,
    });
    expect(stranding?.message).toContain("1 in the outbox of route r and binding out");
    expect(stranding?.message).toContain("stores.outbox.abandon_backlog: true");
    expect(supervisor.config()).toBe(config);
    expect(supervisor.view().level).toBe("full");
    await supervisor.shutdown();
  });

  test("nor while the bridge is paused", async () => {
    const { supervisor, config } = await withBacklog();
    await supervisor.stop(bound());
    await expect(supervisor.apply({ ...config, routes: [] }, bound())).rejects.toMatchObject({ kind: "stranding" });
    await supervisor.shutdown();
  });

  test("dead letters that would be out of sight are as good as records", async () => {
    const { hub, supervisor, config } = memoryBridge({ policy: { maxReplayAttempts: 1 } });
    hub.channel("out").sends.failNext(1_000, outage);
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    for (const change of [movedTo("dlq", "elsewhere"), without("dlq")]) {
      const stranding = await supervisor.stranding(change(config), bound());
      expect(stranding?.stranded).toEqual([{ store: "dlq", waiting: 1 }]);
      await expect(supervisor.apply(change(config), bound())).rejects.toMatchObject({ kind: "stranding" });
    }
    await supervisor.shutdown();
  });

  test("abandon_backlog lets the change that brings it pass, and no other", async () => {
    const bridge = await withBacklog();
    const { supervisor, config } = bridge;
    const next: BridgeConfig = { ...config, routes: [], abandonBacklog: ["outbox"] };
    expect(await supervisor.apply(next, bound())).toBe("applied");
    // The route is back, and with it the record; what allowed it to be left is still in the document.
    const again: BridgeConfig = { ...config, abandonBacklog: ["outbox"] };
    expect(await supervisor.apply(again, bound())).toBe("applied");
    await expect(whileTimePasses(bridge, supervisor.apply(next, bound()))).rejects.toMatchObject({ kind: "stranding" });
    await supervisor.shutdown();
  });

  test("what is on its way is waited for, and does not stand in the way", async () => {
    // Over as soon as nothing is on its way any more.
    const bridge = memoryBridge({ deliveryMode: "shared_outbox", quiesceTimeoutMs: 10_000, drainTimeoutMs: 20_000 });
    const { hub, supervisor, config } = bridge;
    await supervisor.start(bound());
    const sends = hub.channel("out");
    for (let n = 0; n < 50; n++) hub.publish("in", { id: `m${n}` });
    expect(await whileTimePasses(bridge, supervisor.apply({ ...config, routes: [] }, bound()))).toBe("applied");
    expect(sends.messages().length).toBe(hub.channel("in").accepted);
    expect(await bridge.outbox.backlog(bound())).toEqual([]);
    await supervisor.shutdown();
  });

  test("what is being sent is on its way: it does not stand in the way when it is delivered within a second", async () => {
    const bridge = memoryBridge({ deliveryMode: "shared_outbox" });
    const { hub, clock, supervisor, config } = bridge;
    await supervisor.start(bound());
    const held = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until(({ sends }) => sends.held === 1, bound());
    const stranding = supervisor.stranding({ ...config, routes: [] }, bound());
    await clock.advance(500);
    held[Symbol.dispose]();
    expect(await whileTimePasses(bridge, stranding)).toBeUndefined();
    await supervisor.shutdown();
  });

  test("a route of a change takes nothing before all is open: the change may be undone, and its outbox be out of sight", async () => {
    const { hub, supervisor, config } = memoryBridge();
    await supervisor.start(bound());
    using _ = hub.channel("other").opens.hold();
    const impatient = new AbortController();
    const receivers = config.receivers.map((receiver) => ({
      ...receiver,
      options: { ...(receiver.options as object), channel: "other" },
    }));
    const applied = supervisor.apply({ ...config, receivers }, impatient.signal);
    applied.catch(() => {});
    await hub.channel("other").until((channel) => channel.opens.held === 1, bound());
    const message = { subject: "s", payload: new Uint8Array() };
    await expect(supervisor.inject("r", message, { signal: bound() })).rejects.toMatchObject({ kind: "unavailable" });
    impatient.abort(new Error("the cap"));
    await expect(applied).rejects.toThrow("the cap");
    expect(await supervisor.inject("r", message, { signal: bound() })).toMatchObject({ outcome: "delivered" });
    await supervisor.shutdown();
  });

  test("a store that cannot tell is asked only by changes that could leave something there, and refuses those", async () => {
    const bridge = await withBacklog();
    const { supervisor, config, outbox } = bridge;
    let asked = 0;
    outbox.backlog = (): Promise<readonly OutboxBacklog[]> => {
      asked++;
      return Promise.reject(outage);
    };
    const level: BridgeConfig = { ...config, bridge: { ...config.bridge, logLevel: "debug" } };
    expect(await supervisor.stranding(level, bound())).toBeUndefined();
    expect(asked).toBe(0);
    const refused = whileTimePasses(bridge, supervisor.apply({ ...config, routes: [] }, bound()));
    await expect(refused).rejects.toThrow("cannot be counted now");
    await supervisor.shutdown();
  });

  test("other options of a store in the same place leave nothing behind", async () => {
    const at = (retention: string, config: BridgeConfig): BridgeConfig => ({
      ...config,
      stores: { ...config.stores, outbox: { type: "test", reach: "process", options: { retention }, place: "here" } },
    });
    const { supervisor, config } = await withBacklog({ config: (plain) => at("1h", plain) });
    expect(await supervisor.stranding(at("2h", config), bound())).toBeUndefined();
    await supervisor.shutdown();
  });
});
