import type { DeadLetter, Processor, Sender, TransportPlugin } from "@bridge/ports";
import { BridgeError } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { BridgeHooks, DeadLetterEvent, FailedAttempt, ProgressChange, StateChange } from "../../src/index.ts";
import { createSupervisor } from "../../src/index.ts";
import { bound, memoryBridge, type MemoryBridge, type MemoryBridgeOptions, refusal } from "../support/memory-bridge.ts";

async function until({ clock }: MemoryBridge, condition: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE.timeout;
  while (!condition()) {
    if (performance.now() > end) throw new Error("the condition was never met");
    await clock.advance(5);
  }
}

const POLICY = {
  maxReplayAttempts: 2,
  backoff: { initialIntervalMs: 10, maxIntervalMs: 10, multiplier: 1, jitter: 0 },
};

/** A sender that is somebody's code. */
function sending(send: Sender["send"]): Pick<MemoryBridgeOptions, "transports" | "config"> {
  return {
    transports: (memory: TransportPlugin & { readonly sender: NonNullable<TransportPlugin["sender"]> }) => [
      {
        ...memory,
        type: "own",
        sender: { ...memory.sender, create: () => ({ send, [Symbol.asyncDispose]: async () => {} }) },
      },
    ],
    config: (config) => ({
      ...config,
      veils: ["orders.example.com"],
      senders: config.senders.map((one) => ({ ...one, transport: "own" })),
    }),
  };
}

describe.each(["direct_hold", "shared_outbox"] as const)("hooks of a bridge, in %s", (deliveryMode) => {
  test("a dead letter is told without its message, which can be loaded", async () => {
    const told: DeadLetterEvent[] = [];
    const loaded: (DeadLetter | undefined)[] = [];
    const bridge = memoryBridge({
      deliveryMode,
      hooks: {
        onDeadLetter: async (entry) => {
          told.push(entry);
          loaded.push(await entry.load());
        },
      },
    });
    const { hub, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, refusal);
    hub.publish("in", { id: "m1", payload: "text" });
    await until(bridge, () => loaded.length === 1);
    expect(told[0]).toMatchObject({ routeId: "r", bindingId: "out", errorCode: "REJECTED", attempts: 1 });
    expect(told[0]).not.toHaveProperty("envelope");
    expect(loaded[0]?.envelope.id).toBe("m1");
    expect(Buffer.from(loaded[0]?.envelope.payload ?? []).toString()).toBe("text");
    await supervisor.dlq()?.admin?.deleteWhere({}, undefined, bound());
    expect(await told[0]?.load(bound())).toBeUndefined();
    await supervisor.shutdown();
    await expect(told[0]?.load()).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("a failed attempt is told with the very error that was thrown, each with its number", async () => {
    const told: FailedAttempt[] = [];
    const thrown = new Error("no such table");
    const bridge = memoryBridge({
      deliveryMode,
      policy: POLICY,
      hooks: { onAttemptFailed: (failed) => void told.push(failed) },
      ...sending(() => Promise.reject(thrown)),
    });
    await bridge.supervisor.start(bound());
    bridge.hub.publish("in", { id: "m1", payload: "four", headers: { a: "b" } });
    await until(bridge, () => told.length === 2);
    expect(told.map(({ error, attempt, route, binding }) => [error === thrown, attempt, route, binding])).toEqual([
      [true, 1, "r", "out"],
      [true, 2, "r", "out"],
    ]);
    expect(told[0]?.message).toMatchObject({ id: "m1", size: 4, headers: { a: "b" } });
    expect(told[0]?.message).not.toHaveProperty("payload");
    await bridge.supervisor.shutdown();
    expect(told.length).toBe(2);
  });

  test("a processor's failed attempt is told without a binding, and what it filters is none", async () => {
    const told: FailedAttempt[] = [];
    const thrown = new BridgeError("SCHEMA_VIOLATION", "no field");
    const processor: Processor = {
      process: ({ id }) => {
        if (id === "filtered") return { kind: "filter", reason: "not wanted" };
        throw thrown;
      },
    };
    const bridge = memoryBridge({
      deliveryMode,
      processors: [processor],
      hooks: { onAttemptFailed: (failed) => void told.push(failed) },
    });
    await bridge.supervisor.start(bound());
    for (const id of ["filtered", "m1"]) bridge.hub.publish("in", { id });
    await bridge.hub.channel("in").waitForSettlements(2, bound());
    await until(bridge, () => told.length === 1);
    expect(told).toMatchObject([{ route: "r", message: { id: "m1" }, attempt: 1 }]);
    expect(told[0]?.error).toBe(thrown);
    expect(told[0]).not.toHaveProperty("binding");
    await bridge.supervisor.shutdown();
    expect(told.length).toBe(1);
  });

  test("what came in through a reference is in no error; its stack still says where it was thrown", async () => {
    const told: FailedAttempt[] = [];
    const errors = [
      new Error("orders.example.com is away"),
      Object.assign(new Error("away"), { url: "https://orders.example.com" }),
      new Error("away", { cause: new Error("at orders.example.com") }),
    ];
    const bridge = memoryBridge({
      deliveryMode,
      policy: POLICY,
      hooks: { onAttemptFailed: (failed) => void told.push(failed) },
      ...sending(({ id }) => Promise.reject(errors[Number(id)])),
    });
    await bridge.supervisor.start(bound());
    for (const id of errors.keys()) {
      bridge.hub.publish("in", { id: String(id) });
      await until(bridge, () => told.length === 2 * (id + 1));
    }
    expect(told.map(({ error }) => error.message)).toEqual([
      "[REDACTED] is away",
      "[REDACTED] is away",
      "away",
      "away",
      "away",
      "away",
    ]);
    for (const { error } of told) {
      expect(error.stack).toContain("hooks.test.ts");
      expect([error.stack, error.cause, Object.values(error)].join()).not.toContain("orders.example");
    }
    await bridge.supervisor.shutdown();
  });
});

test("states are told in their order, and why the bridge stands still", async () => {
  const told: StateChange[] = [];
  const fault = new Error("no disk");
  let broken = false;
  const bridge = memoryBridge({
    hooks: { onState: (change) => void told.push(change) },
    transports: (memory) => [
      {
        ...memory,
        type: "own",
        sender: {
          ...memory.sender,
          create(options, context) {
            if (broken) throw fault;
            return memory.sender.create(options, context);
          },
        },
      },
    ],
    config: (config) => ({ ...config, senders: config.senders.map((one) => ({ ...one, transport: "own" })) }),
  });
  const { supervisor } = bridge;
  await supervisor.start(bound());
  await supervisor.stop(bound());
  broken = true;
  await expect(supervisor.start(bound())).rejects.toThrow("no disk");
  await supervisor.shutdown();
  expect(told.map(({ from, to }) => `${from} ${to}`)).toEqual([
    "unwired starting",
    "starting running",
    "running stopping",
    "stopping paused",
    "paused starting",
    "starting paused",
    "paused shutting_down",
  ]);
  expect(told.map(({ error }) => error)).toEqual([...Array.from({ length: 5 }), fault, undefined]);
  expect(told[0]?.at).toBe(1_000_000);
});

test("how a route gets on is told when that changes, with why", async () => {
  const told: ProgressChange[] = [];
  const bridge = memoryBridge({
    policy: { sendTimeoutMs: 1_000 },
    hooks: { onProgress: (change) => void told.push(change) },
  });
  const { hub, clock, supervisor } = bridge;
  await supervisor.start(bound());
  const hold = hub.channel("out").sends.hold();
  hub.publish("in", { id: "m1" });
  await clock.advance(5_000);
  hold[Symbol.dispose]();
  await clock.advance(120_000);
  expect(told.map(({ route, from, to }) => `${route}: ${from} ${to}`)).toEqual([
    "r: idle moving",
    "r: moving stalled",
    "r: stalled moving",
    "r: moving idle",
  ]);
  expect(told[1]?.reason).toContain("binding out");
  expect(told[0]).not.toHaveProperty("reason");
  await supervisor.shutdown();
});

const thrower = (): never => {
  throw new TypeError("looked at");
};
const unreadable: unknown = new Proxy({}, { get: thrower, has: thrower, getPrototypeOf: thrower });

const throwing = (thrown: unknown) => (): never => {
  throw thrown;
};

/** What a hook of somebody's may do. */
const MANNERS: readonly (() => unknown)[] = [
  () => undefined,
  () => 5,
  () => Promise.resolve(),
  () => new Promise(() => {}),
  () => Promise.reject(new Error("rude")),
  () => Promise.reject(undefined),
  () => Promise.reject(unreadable),
  () => unreadable,
  () => new Proxy({}, { has: () => true, get: () => thrower }),
  throwing(new Error("rude")),
  throwing(unreadable),
  throwing(null),
];

describe("rude hooks", () => {
  test("change nothing of what becomes of messages, and end with the bridge", async () => {
    const manner = fc.constantFrom(...MANNERS);
    const hooks = fc.record({ onDeadLetter: manner, onAttemptFailed: manner, onState: manner, onProgress: manner });
    const spoils = fc.constantFrom(undefined, (event: object) => void Object.assign(event, { id: 5 }));
    await fc.assert(
      fc.asyncProperty(
        hooks,
        spoils,
        fc.constantFrom("direct_hold" as const, "shared_outbox" as const),
        async (rude, spoil, deliveryMode) => {
          const wrapped = Object.fromEntries(
            Object.entries(rude).map(([name, act]) => [
              name,
              (event: { readonly message?: { readonly headers: object } }) => {
                spoil?.(event);
                if (event.message !== undefined) Object.assign(event.message.headers, { spoiled: "yes" });
                return act();
              },
            ]),
          ) as BridgeHooks;
          let sent = 0;
          let spoiled = false;
          const bridge = memoryBridge({
            deliveryMode,
            policy: POLICY,
            hooks: wrapped,
            ...sending(async ({ id, headers }) => {
              sent++;
              spoiled ||= headers["spoiled"] !== undefined;
              if (id.startsWith("bad")) throw new Error(`bad at ${id}`);
            }),
          });
          const { supervisor, hub, clock } = bridge;
          await supervisor.start(bound());
          for (let at = 0; at < 5; at++) {
            hub.publish("in", { id: `good-${at}` });
            hub.publish("in", { id: `bad-${at}`, headers: { a: "b" } });
          }
          const ended = (): number =>
            supervisor
              .stats()
              .legs.reduce((sum, { dispositions }) => sum + dispositions.delivered + dispositions.dead_lettered, 0);
          await until(bridge, () => ended() === 10);
          expect([sent, spoiled, supervisor.stats().unaccounted]).toEqual([15, false, 0]);
          const shutdown = supervisor.shutdown();
          await until(bridge, () => supervisor.state().kind === "shutting_down");
          await clock.advance(5_000);
          await shutdown;
          await clock.advance(60_000);
          expect(clock.pending).toBe(0);
        },
      ),
      { numRuns: 40 },
    );
  });

  test("are no functions, or none that there are: that is told at once", () => {
    const { config, registry } = memoryBridge();
    const made = (hooks: unknown) => () => createSupervisor({ config, registry, hooks: hooks as BridgeHooks });
    expect(made({ onState: 5 })).toThrow(new TypeError("hooks.onState is a number: give it a function"));
    expect(made({ onDeadletter() {} })).toThrow("hooks.onDeadletter is no hook: there are onDeadLetter, ");
  });
});
