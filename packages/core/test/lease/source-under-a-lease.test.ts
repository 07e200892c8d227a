import { randomUUID } from "node:crypto";
import { openMemoryLeases } from "@bridge/memory";
import { BridgeError, type LeaseStore, type TransportPlugin } from "@bridge/ports";
import { expect, test } from "vitest";
import { HandSource } from "../support/hand-source.ts";
import { bound, memoryBridge, type MemoryBridge, type MemoryBridgeOptions } from "../support/memory-bridge.ts";

/** A lease store that can be out of reach, and how often it was written. */
interface Reach {
  cut: boolean;
  writes: number;
}

function leasesWithin(reach: Reach): () => LeaseStore {
  const name = randomUUID();
  return () => {
    const store = openMemoryLeases({ name });
    const begin = (): void => {
      if (reach.cut) throw new BridgeError("UNAVAILABLE", "the lease store is away");
    };
    return {
      async read(key, signal) {
        begin();
        return store.read(key, signal);
      },
      async replace(...args) {
        begin();
        reach.writes++;
        return store.replace(...args);
      },
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  };
}

/**
 * A bridge whose source is exclusive and whose target is not. The source's deliveries have no signal, so that nothing but
 * the lease tells when they are another's.
 */
async function exclusiveSource(): Promise<{ bridge: MemoryBridge; source: HandSource; reach: Reach }> {
  const reach = { cut: false, writes: 0 };
  const source = new HandSource();
  const { transports, config } = source.options();
  const bridge = memoryBridge({
    session: true,
    leases: leasesWithin(reach),
    policy: { maxInFlight: 1, sendTimeoutMs: 10_000 },
    transports: transports as NonNullable<MemoryBridgeOptions["transports"]>,
    config: (plain) => {
      const withSource = config?.(plain) ?? plain;
      const alone = <Part extends object>(part: Part) => ({ ...part, sessionId: undefined });
      return { ...withSource, senders: withSource.senders.map(alone), bindings: withSource.bindings.map(alone) };
    },
  });
  await bridge.supervisor.start(bound());
  await bridge.clock.until(() => bridge.supervisor.view().level === "full");
  return { bridge, source, reach };
}

const role = ({ supervisor }: MemoryBridge): string => supervisor.view().role;

test("what an exclusive source hands over when its lease is over is not begun, and takes no slot", async () => {
  const { bridge, source, reach } = await exclusiveSource();
  const { hub, clock, supervisor } = bridge;
  reach.cut = true;
  await clock.until(() => role(bridge) === "standby");
  source.plain("late");
  await clock.advance(100);
  expect([hub.channel("out").arrived, source.settled]).toEqual([0, []]);
  reach.cut = false;
  await clock.until(() => role(bridge) === "active");
  source.plain("in time");
  await clock.until(() => source.settled.length === 1);
  expect(hub.channel("out").arrived).toBe(1);
  expect(supervisor.stats().unaccounted).toBe(0);
  await supervisor.shutdown();
});

test("what is on its way when the lease of its source ends is given up at once, whether or not the target answers", async () => {
  const { bridge, source, reach } = await exclusiveSource();
  const { hub, clock, supervisor } = bridge;
  using hold = hub.channel("out").sends.hold();
  // Just renewed, so that a send may still begin six seconds later, and is not over when the holder steps down.
  const { writes } = reach;
  await clock.until(() => reach.writes > writes);
  reach.cut = true;
  await clock.advance(6_000);
  source.plain("held");
  await hub.channel("out").until(({ sends }) => sends.held === 1, bound());
  await clock.until(() => role(bridge) === "standby");
  await clock.advance(0);
  expect(supervisor.stats().routes[0]?.inFlight).toBe(0);
  expect(hub.channel("out").sends.held).toBe(0);
  hold[Symbol.dispose]();
  await clock.advance(100);
  expect(source.settled).toEqual([]);
  const { legs, unaccounted } = supervisor.stats();
  expect([legs.find(({ bindingId }) => bindingId === "out")?.dispositions.abandoned, unaccounted]).toEqual([1, 0]);
  await supervisor.shutdown();
});

test("a send that could outlast the lease of its source waits for the next renewal", async () => {
  const { bridge, source, reach } = await exclusiveSource();
  const { hub, clock, supervisor } = bridge;
  reach.cut = true;
  await clock.advance(10_500);
  source.plain("short of time");
  await clock.advance(500);
  expect([role(bridge), hub.channel("out").arrived]).toEqual(["active", 0]);
  reach.cut = false;
  await clock.until(() => source.settled.length === 1);
  expect(supervisor.stats().leases).toMatchObject([{ acquisitions: 1, losses: 0 }]);
  await supervisor.shutdown();
});

test("at a stop the lease is released when all that stood under it is closed, and not before", async () => {
  const closing = Promise.withResolvers<void>();
  const closed: string[] = [];
  const leases = leasesWithin({ cut: false, writes: 0 });
  const watch = leases();
  const slowToClose = (memory: TransportPlugin): TransportPlugin => {
    const { session } = memory;
    if (session === undefined) throw new Error("no sessions");
    const create: typeof session.create = (options, context) => {
      const part = session.create(options, context);
      const close = part[Symbol.asyncDispose].bind(part);
      part[Symbol.asyncDispose] = async () => {
        await closing.promise;
        closed.push(context.role);
        await close();
      };
      return part;
    };
    return { ...memory, type: "slow", session: { ...session, create } };
  };
  const { supervisor, clock } = memoryBridge({
    session: true,
    leases,
    transports: (memory) => [slowToClose(memory)],
    config: (config) => ({
      ...config,
      sessions: config.sessions.map((part) => ({ ...part, transport: "slow" })),
      receivers: config.receivers.map((part) => ({ ...part, transport: "slow" })),
      senders: config.senders.map((part) => ({ ...part, transport: "slow" })),
    }),
  });
  await supervisor.start(bound());
  await clock.until(() => supervisor.view().level === "full");
  const holder = async (): Promise<string | undefined> => (await watch.read("plant/s", bound()))?.holder;
  const stopped = supervisor.stop(bound());
  await clock.advance(1_000);
  expect([await holder(), closed]).toEqual([expect.stringMatching(/^plant-a/), []]);
  closing.resolve();
  await stopped;
  expect([await holder(), closed.toSorted()]).toEqual(["", ["source", "target"]]);
  await supervisor.shutdown();
  await watch[Symbol.asyncDispose]();
});
