import type { BridgeConfig } from "@bridge/config";
import { BridgeError, type Logger, silentLogger } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { turn } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

/** The same configuration with another way out: messages of `r` go to the channel `address`. */
function to(address: string, config: BridgeConfig): BridgeConfig {
  return {
    ...config,
    configVersion: config.configVersion + 1,
    bindings: config.bindings.map((binding) => ({ ...binding, address })),
  };
}

describe("spec 3.1: a reconfiguration swap", () => {
  test("another configuration carries the messages from then on", async () => {
    const { hub, supervisor, config } = memoryBridge();
    await supervisor.start(bound());
    expect(await supervisor.apply(to("elsewhere", config), bound())).toBe("applied");
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    expect(hub.channel("elsewhere").messages()).toHaveLength(1);
    expect(supervisor.config().configVersion).toBe(4);
    expect(supervisor.view()).toMatchObject({ state: "running", configVersion: 4, level: "full" });
    await supervisor.shutdown();
  });

  test("content that is equal in meaning swaps nothing, whatever its version and the order of its parts", async () => {
    const { hub, supervisor, config } = memoryBridge({ bindings: ["a", "b"], dispatchMode: "fan_out", session: true });
    await supervisor.start(bound());
    const same = structuredClone({ ...config, configVersion: 9, bindings: config.bindings.toReversed() });
    expect(await supervisor.plan(same, bound())).toMatchObject({
      unchanged: true,
      routes: { kept: ["r"] },
      sessions: { kept: ["s"] },
    });
    expect(await supervisor.apply(same, bound())).toBe("applied");
    expect(hub.link("s", "source").connections).toBe(1);
    expect(supervisor.view().configVersion).toBe(9);
    await supervisor.shutdown();
  });

  test("log level and shutdown budgets apply in place, and whoever keeps the log is told", async () => {
    const levels: string[] = [];
    const { hub, supervisor, config } = memoryBridge({
      session: true,
      onConfig: ({ bridge }) => void levels.push(bridge.logLevel),
    });
    await supervisor.start(bound());
    const next: BridgeConfig = { ...config, bridge: { ...config.bridge, logLevel: "debug", drainTimeoutMs: 7_000 } };
    expect(await supervisor.plan(next, bound())).toMatchObject({
      unchanged: false,
      inPlace: ["bridge.drain_timeout", "bridge.log_level"],
      routes: { kept: ["r"], restarted: [] },
    });
    expect(await supervisor.apply(next, bound())).toBe("applied");
    expect(hub.link("s", "source").connections).toBe(1);
    expect(levels).toEqual(["debug"]);
    await supervisor.shutdown();
  });

  test("a limit applies in place", async () => {
    const { hub, supervisor, config } = memoryBridge({ session: true });
    await supervisor.start(bound());
    const rateLimit = { messagesPerSecond: 1, burst: 1 };
    const next = { ...config, routes: config.routes.map((route) => ({ ...route, rateLimit })) };
    expect(await supervisor.plan(next, bound())).toMatchObject({
      inPlace: ["routes.r.rate_limit"],
      routes: { kept: ["r"] },
    });
    expect(await supervisor.apply(next, bound())).toBe("applied");
    expect(hub.link("s", "source").connections).toBe(1);
    hub.publish("in", { id: "m1" });
    hub.publish("in", { id: "m2" });
    await turn();
    await turn();
    expect(hub.channel("in").accepted).toBe(1);
    await supervisor.shutdown();
  });

  test("a changed http block is stored and pending until the process restarts, or it is changed back", async () => {
    const { supervisor, config } = memoryBridge();
    await supervisor.start(bound());
    const http = {
      adminAddr: ":1",
      monitorAddr: ":2",
      adminApiKey: "",
      monitorApiKey: "",
      apiKeys: [],
      corsOrigins: [],
      tlsCertFile: "",
      tlsKeyFile: "",
    };
    expect(await supervisor.plan({ ...config, http }, bound())).toMatchObject({
      unchanged: false,
      restartRequired: ["http"],
    });
    expect(await supervisor.apply({ ...config, http }, bound())).toBe("applied");
    expect(supervisor.view().restartRequired).toEqual(["http"]);
    expect(await supervisor.apply(config, bound())).toBe("applied");
    expect(supervisor.view().restartRequired).toEqual([]);
    await supervisor.shutdown();
  });

  test("changed keys with names are in force at once, and nothing is restarted for them", async () => {
    const http = {
      adminAddr: ":1",
      monitorAddr: ":2",
      adminApiKey: "",
      monitorApiKey: "",
      apiKeys: [],
      corsOrigins: [],
      tlsCertFile: "",
      tlsKeyFile: "",
    };
    const { supervisor, config } = memoryBridge({ config: (made) => ({ ...made, http }) });
    await supervisor.start(bound());
    const apiKeys = [{ id: "grafana", key: "a-key-of-a-dashboard", role: "viewer" as const }];
    const next = { ...config, http: { ...http, apiKeys } };
    const change = { unchanged: false, inPlace: ["http.api_keys"], restartRequired: [] };
    expect(await supervisor.plan(next, bound())).toMatchObject(change);
    expect(await supervisor.apply(next, bound())).toBe("applied");
    expect(supervisor.view().restartRequired).toEqual([]);
    await supervisor.shutdown();
  });

  test("while it is stopped it is recorded and used at the next start", async () => {
    const { hub, supervisor, config } = memoryBridge();
    expect(await supervisor.apply(to("first", config), bound())).toBe("accepted");
    await supervisor.start(bound());
    await supervisor.stop(bound());
    expect(await supervisor.apply(to("second", config), bound())).toBe("accepted");
    expect(supervisor.state().kind).toBe("paused");
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    expect(hub.channel("second").messages()).toHaveLength(1);
    await supervisor.shutdown();
    expect(await supervisor.apply(to("third", config), bound())).toBe("accepted");
    expect(supervisor.config().bindings[0]?.address).toBe("third");
  });

  test("what cannot be built changes nothing", async () => {
    const { hub, supervisor, config } = memoryBridge({ session: true });
    await supervisor.start(bound());
    const broken = { ...to("elsewhere", config), senders: [] };
    await expect(supervisor.apply(broken, bound())).rejects.toThrow('the configuration has no sender "out"');
    expect(supervisor.state().kind).toBe("running");
    expect(hub.link("s", "source").connections).toBe(1);
    expect(supervisor.config()).toBe(config);
    await supervisor.shutdown();
  });

  test("what cannot be opened is undone: the former configuration runs again", async () => {
    const { hub, supervisor, config } = memoryBridge();
    await supervisor.start(bound());
    await expect(supervisor.apply(otherSource(config, hub), bound())).rejects.toMatchObject({
      kind: "failed",
      message: "the port is taken (the former configuration runs again)",
    });
    expect(supervisor.beyondRecovery()).toBe(false);
    expect(supervisor.state().kind).toBe("running");
    expect(supervisor.config()).toBe(config);
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    await supervisor.shutdown();
  });

  test("when neither it nor the former one can be opened the bridge is beyond recovery", async () => {
    const { hub, supervisor, config } = memoryBridge();
    await supervisor.start(bound());
    const next = otherSource(config, hub);
    hub.channel("in").opens.failNext(1, new BridgeError("UNAVAILABLE", "taken meanwhile"));
    await expect(supervisor.apply(next, bound())).rejects.toMatchObject({ kind: "conflict" });
    expect(await supervisor.terminated).toMatchObject({ kind: "terminal", cause: "swap_failed" });
    expect(supervisor.beyondRecovery()).toBe(true);
    await expect(supervisor.apply(config, bound())).rejects.toMatchObject({ kind: "conflict" });
    await supervisor.shutdown();
  });

  test("aborted before it is applied it is undone", async () => {
    const { hub, supervisor, config } = memoryBridge();
    await supervisor.start(bound());
    using _ = hub.channel("other").opens.hold();
    const impatient = new AbortController();
    const applied = supervisor.apply(otherSource(config, undefined), impatient.signal);
    await hub.channel("other").until((channel) => channel.opens.held === 1, bound());
    expect(supervisor.state().kind).toBe("swapping");
    const cap = new Error("the cap");
    impatient.abort(cap);
    await expect(applied).rejects.toBe(cap);
    expect(supervisor.state().kind).toBe("running");
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    await supervisor.shutdown();
  });

  test("during a swap others are accepted, and the newest is used", async () => {
    const { hub, supervisor, config } = memoryBridge();
    await supervisor.start(bound());
    const hold = hub.channel("other").opens.hold();
    const first = supervisor.apply(otherSource(config, undefined), bound());
    await hub.channel("other").until((channel) => channel.opens.held === 1, bound());
    expect(await supervisor.apply(to("second", config), bound())).toBe("accepted");
    expect(await supervisor.apply(to("third", config), bound())).toBe("accepted");
    hold[Symbol.dispose]();
    expect(await first).toBe("applied");
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    expect(hub.channel("second").messages()).toHaveLength(0);
    expect(hub.channel("third").messages()).toHaveLength(1);
    await supervisor.shutdown();
  });

  test("one that was accepted and fails is told in the view and in the log", async () => {
    const told: unknown[] = [];
    const logger: Logger = { ...silentLogger, error: (...line) => void told.push(line), child: () => logger };
    const { hub, supervisor, config } = memoryBridge({ logger });
    await supervisor.start(bound());
    const hold = hub.channel("other").opens.hold();
    const first = supervisor.apply(otherSource(config, undefined), bound());
    await hub.channel("other").until((channel) => channel.opens.held === 1, bound());
    await supervisor.apply({ ...config, senders: [] }, bound());
    hold[Symbol.dispose]();
    await first;
    await turn();
    await turn();
    const error = 'the configuration has no sender "out"';
    expect([supervisor.view().refusedChange, told]).toEqual([
      error,
      [["the newest configuration is not in force", { error }]],
    ]);
    await supervisor.shutdown();
  });

  test("one that was accepted and fails is told of until a newer one is in force", async () => {
    const { hub, supervisor, config } = memoryBridge();
    await supervisor.start(bound());
    const hold = hub.channel("other").opens.hold();
    const first = supervisor.apply(otherSource(config, undefined), bound());
    await hub.channel("other").until((channel) => channel.opens.held === 1, bound());
    await supervisor.apply({ ...config, senders: [] }, bound());
    hold[Symbol.dispose]();
    await first;
    expect(await supervisor.apply(to("newer", config), bound())).toBe("applied");
    expect(supervisor.view().refusedChange).toBeUndefined();
    await supervisor.shutdown();
  });
});

/** Another source, which with `hub` cannot be opened once. */
function otherSource(config: BridgeConfig, hub: ReturnType<typeof memoryBridge>["hub"] | undefined): BridgeConfig {
  hub?.channel("other").opens.failNext(1, new BridgeError("UNAVAILABLE", "the port is taken"));
  return {
    ...config,
    receivers: config.receivers.map((receiver) => ({
      ...receiver,
      options: { ...(receiver.options as object), channel: "other" },
    })),
  };
}
