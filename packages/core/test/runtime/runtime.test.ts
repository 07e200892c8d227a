import { getEventListeners } from "node:events";
import { BridgeError, type TransportPlugin } from "@bridge/ports";
import { openMemoryLeases } from "@bridge/memory";
import { describe, expect, test } from "vitest";
import { BoundingClock } from "../support/bounding-clock.ts";
import { turn } from "../support/fake-clock.ts";
import { bound, type MemoryBridgeOptions } from "../support/memory-bridge.ts";
import { runtimeOf } from "../support/runtime-of.ts";

describe("a runtime: one configuration, run once", () => {
  test("building opens nothing", async () => {
    const { bridge, runtime } = runtimeOf({ session: true });
    await bridge.clock.advance(60_000);
    expect(bridge.hub.link("s", "source").connections).toBe(0);
    expect(runtime.running).toBe(false);
    await runtime.stop();
  });

  test("a session is connected for each role that a part names it in, also when no route uses that part yet", () => {
    const { runtime } = runtimeOf({ session: true, config: (config) => ({ ...config, routes: [] }) });
    expect(runtime.links.map(({ sessionId, role }) => [sessionId, role])).toEqual([
      ["s", "source"],
      ["s", "target"],
    ]);
  });

  test("in a cluster each instance opens its sessions under its own name, but for exclusive ones, which are passed on", () => {
    const replicaOf = (deploymentMode: "standalone" | "clustered", exclusive: boolean): string | undefined => {
      let seen: string | undefined;
      runtimeOf({
        session: true,
        ...(exclusive && { leases: () => openMemoryLeases({ name: "unused" }) }),
        config: (config) => ({
          ...config,
          bridge: { ...config.bridge, deploymentMode },
          sessions: config.sessions.map((part) => ({ ...part, transport: "watched" })),
        }),
        transports: ({ session }) => [
          {
            type: "watched",
            ...(session !== undefined && {
              session: {
                ...session,
                create: (options, context) => {
                  seen = context.replica;
                  return session.create(options, context);
                },
              },
            }),
          },
        ],
      });
      return seen;
    };
    expect(replicaOf("clustered", false)).toBe("plant-a");
    expect(replicaOf("clustered", true)).toBeUndefined();
    expect(replicaOf("standalone", false)).toBeUndefined();
  });

  test("a start leaves nothing behind on its context when it has stopped", async () => {
    const context = new AbortController();
    for (let times = 0; times < 3; times++) {
      const { runtime } = runtimeOf();
      await runtime.start(context.signal);
      await runtime.stop();
    }
    expect(getEventListeners(context.signal, "abort")).toEqual([]);
  });

  test("spec 3.3.1: cancelling the start context stops it, without a call of stop", async () => {
    const { bridge, runtime } = runtimeOf();
    const root = new AbortController();
    await runtime.start(root.signal);
    bridge.hub.publish("in", { id: "m1" });
    await bridge.hub.channel("in").waitForSettlements(1, bound());
    root.abort(new Error("SIGTERM"));
    await expect.poll(() => runtime.running).toBe(false);
    await runtime.stop();
    bridge.hub.publish("in", { id: "m2" });
    await bridge.clock.advance(1_000);
    expect(bridge.hub.channel("in").handedOut).toBe(1);
  });

  test("spec 3.3: one caller tears down, all get the same result, and a stopped runtime does not start again", async () => {
    const { runtime } = runtimeOf();
    await runtime.start(bound());
    await Promise.all([runtime.stop(), runtime.stop(), runtime.stop()]);
    await runtime.stop();
    await expect(runtime.start(bound())).rejects.toThrow("stopped");
  });

  test("one that runs does not start again, and its receivers are opened once", async () => {
    let opened = 0;
    const { runtime } = runtimeOf({
      config: (config) => ({
        ...config,
        receivers: config.receivers.map((part) => ({ ...part, transport: "opened" })),
      }),
      transports: (memory) => [
        {
          type: "opened",
          receiver: {
            ...memory.receiver!,
            create: () => ({
              async open() {
                opened++;
              },
              async *receive() {},
              async [Symbol.asyncDispose]() {},
            }),
          },
        },
      ],
    });
    await runtime.start(bound());
    await expect(runtime.start(bound())).rejects.toThrow("a runtime that is running cannot start");
    expect(opened).toBe(1);
    await runtime.stop();
  });

  test("a receiver that cannot open fails the start, and what was opened before is closed", async () => {
    const { bridge, runtime } = runtimeOf();
    bridge.hub.channel("in").opens.failNext(1, new BridgeError("UNAVAILABLE", "the port is taken"));
    await expect(runtime.start(bound())).rejects.toThrow("the port is taken");
    expect(runtime.running).toBe(false);
  });
});

describe("spec 3.3: a stop error names the failing phase", () => {
  const stuck = (change: (memory: Required<TransportPlugin>) => Partial<TransportPlugin>): MemoryBridgeOptions => ({
    session: true,
    quiesceTimeoutMs: 1,
    drainTimeoutMs: 1,
    config: (config) => ({
      ...config,
      receivers: config.receivers.map((part) => ({ ...part, transport: "stuck" })),
      senders: config.senders.map((part) => ({ ...part, transport: "stuck" })),
      sessions: config.sessions.map((part) => ({ ...part, transport: "stuck" })),
    }),
    transports: (memory) => [{ ...memory, ...change(memory as Required<TransportPlugin>), type: "stuck" }],
  });
  const dispose = () => Promise.reject(new Error("refuses to close"));

  test("the session manager, for a session that a binding names", async () => {
    const { runtime } = runtimeOf(
      stuck(({ session }) => ({
        session: {
          ...session,
          create: (options, context) => {
            const inner = session.create(options, context);
            return {
              subscriptions: inner.subscriptions,
              connect: (signal) => inner.connect(signal),
              [Symbol.asyncDispose]: dispose,
            };
          },
        },
        receiver: {
          needsSession: false,
          topics: "refused",
          redelivers: "always",
          options: session.options,
          create: () => idle,
        },
        sender: { needsSession: false, options: session.options, create: () => deaf },
      })),
    );
    await runtime.start(bound());
    await expect(runtime.stop()).rejects.toMatchObject({ phases: ["session manager", "session manager"] });
  });

  test("and while it goes on, what it waits for", async () => {
    const closing = Promise.withResolvers<void>();
    const closed: string[] = [];
    const late = (name: string, until?: Promise<void>) => async () => {
      await until;
      closed.push(name);
    };
    const { runtime } = runtimeOf(
      stuck(({ receiver, session }) => ({
        receiver: { ...receiver, create: () => ({ ...idle, [Symbol.asyncDispose]: late("receiver in") }) },
        sender: {
          needsSession: false,
          options: session.options,
          create: () => ({ ...deaf, [Symbol.asyncDispose]: late("sender out", closing.promise) }),
        },
      })),
    );
    await runtime.start(bound());
    const stopped = runtime.stop();
    while (closed.length === 0) await turn();
    for (let turns = 0; turns < 10; turns++) await turn();
    expect(runtime.stoppingIn).toEqual(["sender out on session s"]);
    closing.resolve();
    await stopped;
    expect([runtime.stoppingIn, closed]).toEqual([[], ["receiver in", "sender out"]]);
  });

  test("background components that are still running at the deadline, by name", async () => {
    const options = stuck(({ receiver, session }) => ({
      receiver: { ...receiver, create: (_, { id }) => (id === "in" ? endless : idle) },
      sender: { needsSession: false, options: session.options, create: () => deaf },
    }));
    const { bridge, runtime } = runtimeOf({
      ...options,
      config: (plain) => {
        const config = options.config?.(plain) ?? plain;
        const [receivers, routes] = [config.receivers, config.routes];
        return {
          ...config,
          receivers: [...receivers, ...receivers.map((part) => ({ ...part, id: "idle" }))],
          routes: [...routes, ...routes.map((route) => ({ ...route, id: "other", receiverId: "idle" }))],
        };
      },
    });
    await runtime.start(bound());
    await bridge.clock.advance(10);
    await expect(runtime.stop()).rejects.toThrow(
      /background components \(still running at the deadline: receiver in\)/,
    );
  }, 20_000);
});

test("what works in the background has until the end of `drain_timeout` to end, and has not failed before", async () => {
  const clock = new BoundingClock();
  const end = Promise.withResolvers<void>();
  const { runtime } = runtimeOf({
    clock,
    drainTimeoutMs: 600_000,
    config: (config) => ({ ...config, receivers: config.receivers.map((part) => ({ ...part, transport: "slow" })) }),
    transports: (memory) => [
      {
        type: "slow",
        receiver: {
          ...memory.receiver!,
          create: () => ({
            receive: () => ({
              [Symbol.asyncIterator]: () => ({
                next: () => end.promise.then(() => ({ done: true as const, value: undefined })),
              }),
            }),
            async [Symbol.asyncDispose]() {},
          }),
        },
      },
    ],
  });
  await runtime.start(bound());
  const stopped = runtime.stop();
  await clock.advance(590_000);
  end.resolve();
  await expect(stopped).resolves.toBeUndefined();
});

const idle = {
  async *receive() {},
  async [Symbol.asyncDispose]() {},
};
const deaf = {
  async send() {},
  async [Symbol.asyncDispose]() {},
};
/** Does not end when its signal aborts. */
const endless = {
  receive: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }),
  async [Symbol.asyncDispose]() {},
};
