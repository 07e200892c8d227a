import type { Processor, Sender, TransportPlugin } from "@bridge/ports";
import { PATIENCE } from "@bridge/tooling/patience";
import { describe, expect, test } from "vitest";
import type { BridgeView } from "../../src/view/bridge-view.ts";
import { HandSource } from "../support/hand-source.ts";
import { bound, memoryBridge, type MemoryBridge, type MemoryBridgeOptions } from "../support/memory-bridge.ts";

const thrower = (): never => {
  throw new TypeError("looked at");
};
const unreadable = new Proxy({}, { get: thrower, has: thrower, getPrototypeOf: thrower });
const throwing = (thrown: unknown) => (): never => {
  throw thrown;
};

/** What somebody's code may do in place of what its port says. */
const MANNERS: Readonly<Record<string, () => unknown>> = {
  "throws an error": throwing(new Error("rude")),
  "throws nothing": throwing(undefined),
  "throws what cannot be read": throwing(unreadable),
  "throws an object without a prototype": throwing(Object.create(null)),
  "answers with nothing": () => undefined,
  "answers with a number": () => 5,
  "answers with what cannot be read": () => unreadable,
  "answers with a thenable that throws": () => new Proxy({}, { has: () => true, get: () => thrower }),
  "rejects with nothing": () => Promise.reject(undefined),
  "rejects with null": () => Promise.reject(null),
  "rejects with a text": () => Promise.reject("rude"),
  "rejects with a frozen error": () => Promise.reject(Object.freeze(new Error("rude"))),
  "rejects with what cannot be read": () => Promise.reject(unreadable),
  "never answers": () => new Promise(() => {}),
};

const POLICY = { maxInFlight: 2, maxReplayAttempts: 2, sendTimeoutMs: 40, backoff: backoffOf(10) };

function backoffOf(ms: number) {
  return { initialIntervalMs: ms, maxIntervalMs: ms, multiplier: 1, jitter: 0 };
}

/** Lets time pass, of which some parts take the machine's. */
async function until({ clock }: MemoryBridge, condition: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE.timeout;
  while (!condition()) {
    if (performance.now() > end) throw new Error("the condition was never met");
    await clock.advance(5);
  }
}

let plains = 0;

const WELL: Pick<BridgeView, "health" | "failures"> & { unaccounted: number; inFlight: number } = {
  unaccounted: 0,
  inFlight: 0,
  health: "ok",
  failures: [],
};

async function afterTen(bridge: MemoryBridge, source: HandSource): Promise<typeof WELL> {
  const { hub, supervisor } = bridge;
  const before = hub.channel("out").arrived;
  for (let at = 0; at < 10; at++) source.plain(`plain-${plains++}`);
  await until(bridge, () => hub.channel("out").arrived >= before + 10);
  await until(bridge, () => supervisor.stats().legs.every((leg) => leg.inFlight === 0 && leg.inOutbox === 0));
  await until(bridge, () => supervisor.stats().routes[0]?.inFlight === 0);
  const { unaccounted, routes } = supervisor.stats();
  const { health, failures } = supervisor.view();
  hub.channel("out").drain();
  return { unaccounted, inFlight: routes[0]?.inFlight ?? 0, health, failures };
}

async function bridgeWith(options: MemoryBridgeOptions): Promise<{ bridge: MemoryBridge; source: HandSource }> {
  const source = new HandSource();
  const own = source.options();
  const bridge = memoryBridge({
    ...own,
    ...options,
    config: (config) => options.config?.(own.config?.(config) ?? config) ?? own.config?.(config) ?? config,
    transports: (memory) => [...(own.transports?.(memory) ?? []), ...(options.transports?.(memory) ?? [])],
    policy: options.policy ?? POLICY,
  });
  await bridge.supervisor.start(bound());
  return { bridge, source };
}

/** A sender of which only messages with the subject `plain` are safe. */
function rudeSender(send: () => unknown): Pick<MemoryBridgeOptions, "transports" | "config"> {
  return {
    transports: (memory: TransportPlugin & { readonly sender: NonNullable<TransportPlugin["sender"]> }) => {
      const { sender: plain } = memory;
      const sender: NonNullable<TransportPlugin["sender"]> = {
        ...plain,
        create(options, context) {
          const inner = plain.create(options, context);
          return {
            send: (envelope, address, signal) =>
              envelope.subject === "plain" ? inner.send(envelope, address, signal) : (send() as Promise<void>),
            [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
          } satisfies Sender;
        },
      };
      return [{ ...memory, type: "rude", sender }];
    },
    config: (config) => ({ ...config, senders: config.senders.map((one) => ({ ...one, transport: "rude" })) }),
  };
}

const DELIVERY = ["direct_hold", "shared_outbox"] as const;

test.each([
  ["throw", thrower],
  ["are none", () => 5 as never],
  ["cannot be read", () => unreadable as never],
])("a sender whose counters %s takes nobody else's away", async (_, counters) => {
  const { bridge } = await bridgeWith({
    transports: (memory) => {
      const { sender: plain } = memory;
      if (plain === undefined) throw new Error("it has no sender");
      const create: typeof plain.create = (options, context) =>
        Object.assign(plain.create(options, context), { counters });
      return [{ ...memory, type: "rude", sender: { ...plain, create } }];
    },
    config: (config) => ({ ...config, senders: config.senders.map((one) => ({ ...one, transport: "rude" })) }),
  });
  const { supervisor } = bridge;
  for (let twice = 0; twice < 2; twice++)
    expect(supervisor.stats().parts).toContainEqual({ part: "sender", id: "out", counters: {} });
  await supervisor.shutdown();
});

describe("finding 1.3: no exception of one message leaves its delivery", () => {
  describe.each(DELIVERY)("%s", (deliveryMode) => {
    test.each(Object.keys(MANNERS))("a sender that %s", async (manner) => {
      const { bridge, source } = await bridgeWith({ deliveryMode, ...rudeSender(() => MANNERS[manner]?.()) });
      for (let at = 0; at < 3; at++) source.message({ id: `${at}`, subject: "rude", payload: new Uint8Array() });
      await until(bridge, () => bridge.supervisor.stats().legs.some((leg) => leg.dispositions.dead_lettered === 3));
      expect(await afterTen(bridge, source)).toEqual(WELL);
      await bridge.supervisor.shutdown();
    });

    test.each(Object.keys(MANNERS))("a processor that %s", async (manner) => {
      const processor: Processor = {
        process: (envelope) =>
          envelope.subject === "plain" ? { kind: "pass", envelope } : (MANNERS[manner]?.() as never),
      };
      const { bridge, source } = await bridgeWith({ deliveryMode, processors: [processor] });
      for (let at = 0; at < 3; at++) source.message({ id: `${at}`, subject: "rude", payload: new Uint8Array() });
      await until(bridge, () => bridge.supervisor.stats().legs.some((leg) => leg.dispositions.dead_lettered === 3));
      expect(await afterTen(bridge, source)).toEqual(WELL);
      await bridge.supervisor.shutdown();
    });

    test("processors that have a say and no manners", async () => {
      const admissions = [
        thrower,
        () => Promise.reject(new Error("rude")),
        () => 5,
        () => ({ kind: "admitted" }),
        () => ({ kind: "refused" }),
        () => unreadable,
      ];
      for (const admission of admissions) {
        const processor: Processor = {
          process: (envelope) => ({ kind: "pass", envelope }),
          admit: (envelope) =>
            envelope.subject === "plain"
              ? { kind: "admitted", ended: () => Promise.reject(new Error("rude")) as never }
              : (admission() as never),
        };
        const { bridge, source } = await bridgeWith({ deliveryMode, processors: [processor] });
        source.message({ id: "m", subject: "rude", payload: new Uint8Array() });
        await until(bridge, () => bridge.supervisor.stats().legs.some((leg) => leg.dispositions.dead_lettered === 1));
        expect(await afterTen(bridge, source)).toEqual(WELL);
        expect(bridge.supervisor.stats().legs.some((leg) => leg.dispositions.delivered === 10)).toBe(true);
        await bridge.supervisor.shutdown();
      }
    });
  });

  test.each(Object.keys(MANNERS).filter((manner) => manner !== "never answers"))(
    "a source whose settlement %s",
    async (manner) => {
      const { bridge, source } = await bridgeWith({});
      for (let at = 0; at < 3; at++) {
        source.message({ id: `${at}`, subject: "s", payload: new Uint8Array() }, { settle: () => MANNERS[manner]?.() });
      }
      expect(await afterTen(bridge, source)).toEqual(WELL);
      await bridge.supervisor.shutdown();
    },
  );

  test.each(Object.keys(MANNERS))("a receiver whose iteration %s is asked again", async (manner) => {
    const { bridge, source } = await bridgeWith({});
    const rude = MANNERS[manner];
    const iterators: readonly (() => unknown)[] = [
      () => rude?.(),
      () => ({ [Symbol.asyncIterator]: () => rude?.() }),
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => rude?.(), return: () => rude?.() }) }),
    ];
    // One that waits for something that never comes is no failure.
    for (const iterator of manner === "never answers" ? iterators.slice(0, 1) : iterators) {
      source.next = iterator as never;
      source.anything(null);
      await until(bridge, () => source.next === undefined);
      await bridge.clock.advance(10_000);
      expect(await afterTen(bridge, source)).toEqual(WELL);
    }
    await bridge.supervisor.shutdown();
  });

  test.each(["direct_hold", "shared_outbox"] as const)(
    "finding 6.9: a sender that never ends what was given up is asked so often, then the route stops and says which (%s)",
    async (deliveryMode) => {
      let asked = 0;
      const ends = Promise.withResolvers<void>();
      const sender = rudeSender(() => {
        asked++;
        return ends.promise;
      });
      const { bridge, source } = await bridgeWith({ deliveryMode, ...sender });
      for (let at = 0; at < 200; at++) source.message({ id: `${at}`, subject: "rude", payload: new Uint8Array() });
      await until(bridge, () => bridge.supervisor.view().health === "unhealthy");
      expect(asked).toBeLessThanOrEqual(100 + POLICY.maxInFlight);
      expect(bridge.supervisor.view()).toMatchObject({
        level: "subscribed",
        failures: [
          { component: "route r", error: "binding out: calls that were given up do not end, so no more are made" },
        ],
      });
      ends.resolve();
      await until(bridge, () => bridge.supervisor.view().health === "ok");
      await until(bridge, () => source.settled.length === 200);
      expect(await afterTen(bridge, source)).toEqual(WELL);
      await bridge.supervisor.shutdown();
    },
  );

  test("finding 6.9: a processor that never ends what was given up is asked so often, then the route stops", async () => {
    let asked = 0;
    const ends = Promise.withResolvers<never>();
    const processor: Processor = {
      process(envelope) {
        if (envelope.subject === "plain") return { kind: "pass", envelope };
        asked++;
        return ends.promise;
      },
    };
    const policy = { ...POLICY, sendTimeoutMs: 5, maxInFlight: 50 };
    const { bridge, source } = await bridgeWith({ processors: [processor], policy });
    for (let at = 0; at < 200; at++) source.message({ id: `${at}`, subject: "rude", payload: new Uint8Array() });
    await until(bridge, () => bridge.supervisor.view().health === "unhealthy");
    expect(asked).toBeLessThanOrEqual(150);
    expect(bridge.supervisor.view().failures).toMatchObject([{ component: "route r" }]);
    ends.reject(new Error("late"));
    await until(bridge, () => source.settled.length === 200);
    expect(await afterTen(bridge, source)).toEqual(WELL);
    await bridge.supervisor.shutdown();
  });

  test("what nobody classified is logged with its stack, and not for each message", async () => {
    const lines: { message: string; fields: Readonly<Record<string, unknown>> }[] = [];
    const logger = {
      debug() {},
      info() {},
      warn() {},
      error: (message: string, fields = {}) => void lines.push({ message, fields }),
      child: () => logger,
    };
    const { bridge, source } = await bridgeWith({ logger, ...rudeSender(throwing(new Error("rude"))) });
    for (let at = 0; at < 20; at++) source.message({ id: `${at}`, subject: "rude", payload: new Uint8Array() });
    await until(bridge, () => source.settled.length === 20);
    expect(lines.length).toBe(5);
    expect(lines[0]?.fields).toMatchObject({ where: "binding out", error: "rude" });
    expect(lines[0]?.fields["stack"]).toContain("rude-hooks.test.ts");
    await bridge.supervisor.shutdown();
  });
});
