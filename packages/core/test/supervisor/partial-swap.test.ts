import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import {
  BridgeError,
  type Processor,
  type Receiver,
  type ReceiverContext,
  systemRandom,
  type TransportPlugin,
} from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { FakeClock, turn } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { twoRoutes, withAttempts, withRoute, withWindow } from "../support/two-routes.ts";

describe("what a change does not touch keeps running", () => {
  test("the other route goes on while one is replaced, with what it has in flight", async () => {
    const { hub, supervisor, config } = twoRoutes({ quiesceTimeoutMs: 5_000, drainTimeoutMs: 10_000 });
    await supervisor.start(bound());
    const [rest, other] = [hub.channel("out").sends.hold(), hub.channel("out2").sends.hold()];
    hub.publish("in", { id: "r1" });
    hub.publish("in2", { id: "q1" });
    await hub.channel("out2").until((channel) => channel.sends.held === 1, bound());
    const next = withAttempts(config, "r", 9);
    expect((await supervisor.plan(next, bound())).routes).toEqual({
      added: [],
      removed: [],
      restarted: ["r"],
      kept: ["q"],
    });
    const applied = supervisor.apply(next, bound());
    await turn();
    expect(supervisor.state().kind).toBe("swapping");
    expect(supervisor.view()).toMatchObject({ running: true, health: "ok" });
    hub.publish("in2", { id: "q2" });
    other[Symbol.dispose]();
    await hub.channel("in2").waitForSettlements(2, bound());
    expect(supervisor.state().kind).toBe("swapping");
    rest[Symbol.dispose]();
    expect(await applied).toBe("applied");
    expect(hub.channel("in").accepted).toBe(1);
    expect(supervisor.stats().legs.map((leg) => leg.dispositions.abandoned)).toEqual([0, 0, 0, 0]);
    await supervisor.shutdown();
  });

  test("a session that a changed route shares stays connected, and what it left unsettled comes again", async () => {
    const { hub, clock, supervisor, config } = twoRoutes({ session: true, quiesceTimeoutMs: 20 });
    await supervisor.start(bound());
    await clock.until(() => supervisor.view().level === "full");
    expect(await supervisor.apply(withAttempts(config, "r", 9), bound())).toBe("applied");
    expect((await supervisor.plan(config, bound())).sessions).toMatchObject({ restarted: [], kept: ["s"] });
    expect([hub.link("s", "source").connections, hub.link("s", "target").connections]).toEqual([1, 1]);

    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    await supervisor.apply(config, bound());
    hold[Symbol.dispose]();
    await clock.until(() => hub.channel("in").accepted === 1);
    expect([hub.link("s", "source").connections, hub.link("s", "target").connections]).toEqual([2, 1]);
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("a receiver that comes or goes restarts the source half of its session with all its routes, and no other", async () => {
    const { hub, clock, supervisor, config } = twoRoutes({ session: true });
    const one = { ...config, routes: config.routes.slice(0, 1) };
    await supervisor.apply(one, bound());
    await supervisor.start(bound());
    await clock.until(() => supervisor.view().level === "full");
    expect(await supervisor.plan(config, bound())).toMatchObject({
      routes: { added: ["q"], restarted: ["r"] },
      sessions: { restarted: ["s"] },
    });
    await supervisor.apply(config, bound());
    await clock.until(() => supervisor.view().level === "full");
    expect([hub.link("s", "source").connections, hub.link("s", "target").connections]).toEqual([2, 1]);
    expect(supervisor.view().sessions[0]).toMatchObject({ subscriptionsWanted: 2, subscriptionsActive: 2 });
    await supervisor.shutdown();
  });

  test("routes without a session come and go by themselves", async () => {
    const { hub, supervisor, config } = twoRoutes();
    const one = { ...config, routes: config.routes.slice(0, 1) };
    await supervisor.start(bound());
    expect((await supervisor.plan(one, bound())).routes).toEqual({
      added: [],
      removed: ["q"],
      restarted: [],
      kept: ["r"],
    });
    await supervisor.apply(one, bound());
    await expect(supervisor.inject("q", message, { signal: bound() })).rejects.toMatchObject({ kind: "not_found" });
    hub.publish("in2", { id: "m1" });
    await turn();
    expect(hub.channel("in2").handedOut).toBe(0);
    await supervisor.apply(config, bound());
    await hub.channel("in2").waitForSettlements(1, bound());
    await supervisor.shutdown();
  });

  test("a receiver without a session stays when the window of its route changes, and is told of the new one", async () => {
    const contexts: ReceiverContext[] = [];
    const witness = ({ receiver, ...rest }: TransportPlugin): TransportPlugin => {
      const create = (options: unknown, context: ReceiverContext): Receiver => {
        contexts.push(context);
        return receiver!.create(options, context);
      };
      return { ...rest, type: "witness", receiver: { ...receiver!, create } };
    };
    const { hub, supervisor, config } = twoRoutes({ transports: (memory) => [witness(memory)] });
    const [first, second] = config.receivers;
    const watched = { ...config, receivers: [{ ...first!, transport: "witness" }, second!] };
    await supervisor.apply(watched, bound());
    await supervisor.start(bound());
    const windows = (): readonly number[] => contexts.map(({ maxInFlight }) => maxInFlight);
    expect(windows()).toEqual([100]);

    const next = withWindow(watched, "r", 7);
    expect((await supervisor.plan(next, bound())).routes).toMatchObject({ restarted: ["r"], kept: ["q"] });
    expect(await supervisor.apply(next, bound())).toBe("applied");
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    expect(windows()).toEqual([7]);
    await supervisor.shutdown();
  });

  test("a processor with a memory that two routes share keeps it when one of them changes", async () => {
    let disposed = 0;
    const processor: Processor = {
      process: (envelope) => ({ kind: "pass", envelope }),
      [Symbol.asyncDispose]: async () => void disposed++,
    };
    const { supervisor, config } = twoRoutes({ processors: [processor] });
    await supervisor.start(bound());
    await supervisor.apply(withAttempts(config, "r", 9), bound());
    expect(disposed).toBe(0);
    const without = withRoute(withRoute(config, "r", bare), "q", bare);
    await supervisor.apply(without, bound());
    expect(disposed).toBe(1);
    await supervisor.shutdown();
  });

  test("a changed store touches the routes that may use it, and it is closed before it is opened again", async () => {
    const events: string[] = [];
    const dlq = async () => {
      events.push("open");
      const store = openMemoryDlq({ maxEntries: 1 });
      return { ...store, [Symbol.asyncDispose]: async () => void events.push("close") };
    };
    const drop = { onPermanentFailure: "drop", onExpired: "drop", onFiltered: "drop" } as const;
    const { supervisor, config } = twoRoutes({ dlq });
    const base = withRoute(config, "q", (route) => ({ ...route, policy: { ...route.policy, ...drop } }));
    await supervisor.apply(base, bound());
    await supervisor.start(bound());
    const next = { ...base, stores: { dlq: { type: "test", reach: "process", options: { other: true } } } } as const;
    expect(await supervisor.plan(next, bound())).toMatchObject({
      stores: ["dlq"],
      routes: { restarted: ["r"], kept: ["q"] },
    });
    await supervisor.apply(next, bound());
    expect(events).toEqual(["open", "close", "open"]);
    await supervisor.shutdown();
  });

  test("what an outbox holds when it is closed counts as abandoned, and as recovered where it is opened again", async () => {
    const random = systemRandom();
    const clock = new FakeClock();
    const inner = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random });
    const outbox = new Proxy(inner, {
      get: (target, name) => {
        if (name === Symbol.asyncDispose) return async () => {};
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const { hub, supervisor, config } = twoRoutes({
      deliveryMode: "shared_outbox",
      outbox,
      clock,
      quiesceTimeoutMs: 1,
    });
    await supervisor.start(bound());
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    const block = { type: "test", reach: "process", options: { other: true } } as const;
    const next = { ...config, stores: { ...config.stores, outbox: block }, abandonBacklog: ["outbox"] } as const;
    expect(await supervisor.plan(next, bound())).toMatchObject({
      stores: ["outbox"],
      routes: { restarted: ["q", "r"] },
    });
    await supervisor.apply(next, bound());
    expect(supervisor.stats().unaccounted).toBe(0);
    const leg = () => supervisor.stats().legs.find(({ bindingId }) => bindingId === "out");
    expect(leg()).toMatchObject({ received: 1, recovered: 1, inOutbox: 1, dispositions: { abandoned: 1 } });
    hold[Symbol.dispose]();
    await clock.until(() => hub.channel("out").messages().length === 1, 1_000);
    await clock.until(() => leg()?.inOutbox === 0);
    expect(leg()).toMatchObject({ dispositions: { abandoned: 1, delivered: 1 } });
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("what cannot be opened is undone, and what was not touched has not noticed", async () => {
    const { hub, supervisor, config } = twoRoutes();
    await supervisor.start(bound());
    const hold = hub.channel("out2").sends.hold();
    hub.publish("in2", { id: "q1" });
    await hub.channel("out2").until((channel) => channel.sends.held === 1, bound());
    hub.channel("other").opens.failNext(1, new BridgeError("UNAVAILABLE", "the port is taken"));
    const [receiver, ...others] = config.receivers;
    if (receiver === undefined) throw new Error("there is no receiver");
    const moved = { ...receiver, options: { ...(receiver.options as object), channel: "other" } };
    await expect(supervisor.apply({ ...config, receivers: [moved, ...others] }, bound())).rejects.toThrow("taken");
    expect(supervisor.state().kind).toBe("running");
    hold[Symbol.dispose]();
    await hub.channel("in2").waitForSettlements(1, bound());
    hub.publish("in", { id: "r1" });
    await hub.channel("in").waitForSettlements(1, bound());
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("a shutdown in the middle of a swap ends both, in one time", async () => {
    const { hub, supervisor, config } = twoRoutes({ quiesceTimeoutMs: 50 });
    await supervisor.start(bound());
    using _ = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    const next = withAttempts(config, "r", 9);
    const applied = supervisor.apply(next, bound());
    await turn();
    await supervisor.shutdown();
    expect(await applied).toBe("accepted");
    expect(supervisor.config()).toBe(next);
    expect(supervisor.state().kind).toBe("shutting_down");
    expect(hub.channel("in")).toMatchObject({ accepted: 0, unsettled: 0 });
  });

  test("while a route is replaced injects into it are told to come again, and into others they go", async () => {
    const { hub, supervisor, config } = twoRoutes({ quiesceTimeoutMs: 5_000, drainTimeoutMs: 10_000 });
    await supervisor.start(bound());
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    const applied = supervisor.apply(withAttempts(config, "r", 9), bound());
    await turn();
    await expect(supervisor.inject("r", message, { signal: bound() })).rejects.toMatchObject({ kind: "unavailable" });
    expect(await supervisor.inject("q", message, { signal: bound() })).toMatchObject({ outcome: "delivered" });
    hold[Symbol.dispose]();
    await applied;
    expect(await supervisor.inject("r", message, { signal: bound() })).toMatchObject({ outcome: "delivered" });
    await supervisor.shutdown();
  });
});

const message = { subject: "s", payload: new Uint8Array() };

function bare<Route extends object>(route: Route): Route {
  return { ...route, processors: [] };
}
