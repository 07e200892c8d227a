import { randomUUID } from "node:crypto";
import { openMemoryLeases } from "@bridge/lease-memory";
import { openMemoryOutbox } from "@bridge/outbox-memory";
import {
  BridgeError,
  type LeaseStore,
  type Processor,
  type ProcessorResult,
  type SessionRole,
  systemRandom,
} from "@bridge/ports";
import { type MemoryChannel, MemoryHub, memoryHub, type MemoryLink } from "@bridge/transport-memory";
import { describe, expect, test } from "vitest";
import type { Supervisor } from "../../src/supervisor/contract.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, type MemoryBridge, memoryBridge, type MemoryBridgeOptions } from "../support/memory-bridge.ts";

const TTL_MS = 20_000;
const POLL_MS = 2_000;
const STEP_MS = 10;

/** A lease store that an instance can be cut off from. */
class Reach {
  cut = false;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  open(): LeaseStore {
    const store = openMemoryLeases({ name: this.name });
    const begin = (): void => {
      if (this.cut) throw new BridgeError("UNAVAILABLE", "the lease store is away");
    };
    return {
      async read(key, signal) {
        begin();
        return store.read(key, signal);
      },
      async replace(key, expected, next, signal) {
        begin();
        return store.replace(key, expected, next, signal);
      },
      [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
    };
  }
}

/** A broker that all instances have in common, with connections of one of them. */
class ConnectionsOf extends MemoryHub {
  readonly #broker: MemoryHub;
  readonly #instanceId: string;

  constructor(broker: MemoryHub, instanceId: string) {
    super();
    this.#broker = broker;
    this.#instanceId = instanceId;
  }

  override channel(name: string): MemoryChannel {
    return this.#broker.channel(name);
  }

  override link(sessionId: string, half: SessionRole): MemoryLink {
    return this.#broker.link(`${this.#instanceId} ${sessionId}`, half);
  }
}

interface Instance extends MemoryBridge {
  readonly reach: Reach;
}

interface Pair extends AsyncDisposable {
  readonly hub: MemoryHub;
  readonly clock: FakeClock;
  readonly a: Instance;
  readonly b: Instance;
}

/** Two instances of one bridge, of which `a` has been started first and is active. */
async function pair(options: MemoryBridgeOptions = {}): Promise<Pair> {
  const [hub, clock, name] = [memoryHub(), new FakeClock(), randomUUID()];
  const [a, b] = ["plant-a", "plant-b"].map((instanceId): Instance => {
    const reach = new Reach(name);
    const own = new ConnectionsOf(hub, instanceId);
    const bridge = memoryBridge({
      session: true,
      leases: () => reach.open(),
      instanceId,
      hub: own,
      clock,
      policy: { sendTimeoutMs: TTL_MS / 2 },
      ...options,
    });
    return Object.assign(bridge, { reach });
  });
  if (a === undefined || b === undefined) throw new Error("no instances");
  await a.supervisor.start(bound());
  await clock.until(() => level(a) === "full");
  await b.supervisor.start(bound());
  await clock.until(() => level(b) === "subscribed");
  return {
    hub,
    clock,
    a,
    b,
    async [Symbol.asyncDispose]() {
      const over = Promise.allSettled([a.supervisor.shutdown(), b.supervisor.shutdown()]);
      let ended = false;
      void over.then(() => (ended = true));
      await clock.until(() => ended, 100);
    },
  };
}

function level({ supervisor }: { readonly supervisor: Supervisor }): string {
  return supervisor.view().level;
}

function role({ supervisor }: Instance): string {
  return supervisor.view().role;
}

/** What has come out, in its order. */
function numbersOut(hub: MemoryHub): readonly number[] {
  const messages = hub.channel("out").drain();
  return messages.map((message) => Number(new TextDecoder().decode(message.payload)));
}

function publish(hub: MemoryHub, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    hub.publish("in", { id: `m${i}`, payload: `${i}`, orderingKey: `key-${i % 3}` });
  }
}

describe("spec 2.1, 3.2.3: roles of two instances on one exclusive session", () => {
  test("one is active and carries messages, the other is a standby, subscribed and not connected", async () => {
    await using stage = await pair();
    const { hub, a, b } = stage;
    expect([role(a), role(b)]).toEqual(["active", "standby"]);
    expect(a.supervisor.view().sessions).toMatchObject([{ connected: true, hasLease: true, ready: true }]);
    expect(b.supervisor.view().sessions).toMatchObject([{ connected: false, hasLease: false, ready: false }]);
    expect(b.supervisor.view().health).toBe("ok");
    expect(hub.link("plant-b s", "source").connections).toBe(0);
    publish(hub, 0, 10);
    await hub.channel("in").waitForSettlements(10, bound());
    expect(b.supervisor.stats().legs.reduce((sum, leg) => sum + leg.received, 0)).toBe(0);
  });

  test("a standby refuses what it could not send, and says who can", async () => {
    await using stage = await pair();
    const refused = stage.b.supervisor.inject("r", { subject: "a", payload: new Uint8Array() }, bound());
    await expect(refused).rejects.toMatchObject({ kind: "unavailable" });
    await expect(refused).rejects.toThrow("does not hold the lease of session s");
  });

  test("alone it is active; without exclusive sessions it is standalone", async () => {
    await using stage = await pair();
    await stage.b.supervisor.shutdown();
    expect(role(stage.a)).toBe("active");
    const plain = memoryBridge({ session: true });
    expect(plain.supervisor.view().role).toBe("standalone");
  });
});

describe("taking over", () => {
  test("from one that is cut off: within ttl and two looks; nothing is lost, repeated needlessly or overtaken", async () => {
    await using stage = await pair();
    const { hub, clock, a, b } = stage;
    publish(hub, 0, 300);
    await hub.channel("in").waitForSettlements(300, bound());
    expect(numbersOut(hub)).toHaveLength(300);

    // From here on the target keeps it waiting, and then its store is gone.
    const hold = hub.channel("out").sends.hold();
    publish(hub, 300, 600);
    await hub.channel("out").until((channel) => channel.sends.held > 0, bound());
    a.reach.cut = true;
    const cutAt = clock.now();
    await clock.until(() => role(a) === "standby", STEP_MS);
    expect(clock.now() - cutAt).toBeLessThanOrEqual((TTL_MS * 3) / 4 + 100);
    expect(hub.link("plant-a s", "source").connections).toBe(1);
    expect(role(b)).toBe("standby");
    hold[Symbol.dispose]();
    await clock.until(() => level(b) === "full", STEP_MS);
    expect(clock.now() - cutAt).toBeLessThanOrEqual(TTL_MS + 2 * POLL_MS + 1_000);
    await hub.channel("in").waitForSettlements(600, bound());
    const after = numbersOut(hub);
    for (const key of [0, 1, 2]) {
      const ofKey = after.filter((n) => n % 3 === key);
      expect(ofKey).toEqual(ofKey.toSorted((x, y) => x - y));
    }
    expect(after.toSorted((x, y) => x - y)).toEqual(Array.from({ length: 300 }, (_, i) => 300 + i));
    for (const { supervisor } of [a, b]) expect(supervisor.stats().unaccounted).toBe(0);
    expect(a.supervisor.stats().leases).toMatchObject([{ acquisitions: 1, losses: 1 }]);
    expect(b.supervisor.stats().leases).toMatchObject([{ acquisitions: 1, losses: 0 }]);
    await clock.until(() => a.supervisor.state().kind === "terminal", 100);
    expect(a.supervisor.state()).toMatchObject({ cause: "lease_lost" });
    await expect(a.supervisor.terminated).resolves.toMatchObject({ cause: "lease_lost" });
  });

  test("spec 3.1: an admin stop releases the lease; the other takes over at its next look; start waits for its turn", async () => {
    await using stage = await pair();
    const { hub, clock, a, b } = stage;
    await a.supervisor.stop(bound());
    const stoppedAt = clock.now();
    await clock.until(() => level(b) === "full", STEP_MS);
    expect(clock.now() - stoppedAt).toBeLessThanOrEqual(POLL_MS + 100);
    publish(hub, 0, 5);
    await hub.channel("in").waitForSettlements(5, bound());
    await a.supervisor.start(bound());
    await clock.until(() => level(a) === "subscribed");
    await clock.advance(5 * TTL_MS);
    expect([role(a), role(b)]).toEqual(["standby", "active"]);
    await b.supervisor.stop(bound());
    await clock.until(() => level(a) === "full");
    expect(a.supervisor.stats().leases).toMatchObject([{ acquisitions: 2, losses: 0 }]);
  });

  test("a standby that cannot reach its store stays a standby, and is not ready to take over", async () => {
    await using stage = await pair();
    const { clock, a, b } = stage;
    b.reach.cut = true;
    await clock.advance(10 * TTL_MS);
    expect([role(a), role(b), level(b)]).toEqual(["active", "standby", "running"]);
    expect(b.supervisor.view().health).toBe("ok");
    b.reach.cut = false;
    await clock.until(() => level(b) === "subscribed");
  });

  test("what was sent while the event loop was held up past the ttl is not settled", async () => {
    await using stage = await pair();
    const { hub, clock, a } = stage;
    const hold = hub.channel("out").sends.hold();
    publish(hub, 0, 1);
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    clock.skip(2 * TTL_MS);
    // The answer is what comes first, before any timer.
    hold[Symbol.dispose]();
    await hub.channel("in").waitForSettlements(1, bound());
    // The source has heard of the second delivery, which came under the next term.
    expect(hub.channel("out").arrived).toBe(2);
    expect(hub.channel("in").handedOut).toBe(2);
    expect(a.supervisor.stats().leases).toMatchObject([{ acquisitions: 2, losses: 1 }]);
    expect(a.supervisor.stats().unaccounted).toBe(0);
    await clock.advance(TTL_MS);
    expect(level(a)).toBe("full");
  });
});

describe("a send that could outlast the lease", () => {
  test.each(["direct_hold", "shared_outbox"] as const)(
    "in %s waits for the next renewal, and then is made",
    async (mode) => {
      await using stage = await pair({ deliveryMode: mode });
      const { hub, clock, a } = stage;
      a.reach.cut = true;
      await clock.advance(TTL_MS / 2 + POLL_MS / 2);
      publish(hub, 0, 1);
      await clock.advance(POLL_MS / 2);
      expect(role(a)).toBe("active");
      expect(hub.channel("out").arrived).toBe(0);
      // The lease holds still, so what is only kept is kept.
      expect(hub.channel("in").accepted).toBe(mode === "shared_outbox" ? 1 : 0);
      a.reach.cut = false;
      await clock.until(() => hub.channel("out").arrived === 1);
      expect(role(a)).toBe("active");
      expect(a.supervisor.stats().leases).toMatchObject([{ acquisitions: 1, losses: 0 }]);
    },
  );
});

describe("what comes to its end after the lease is over", () => {
  /** One message, in a processor when the event loop is held up for longer than the ttl; then it goes on. */
  async function heldUp(
    options: MemoryBridgeOptions,
    verdict: ProcessorResult["kind"],
  ): Promise<Pair & { received: number }> {
    const gate = Promise.withResolvers<void>();
    const processor: Processor = {
      async process(envelope) {
        await gate.promise;
        return verdict === "pass" ? { kind: "pass", envelope } : { kind: "filter", reason: "not wanted" };
      },
    };
    const stage = await pair({ ...options, processors: [processor] });
    stage.a.reach.cut = true;
    publish(stage.hub, 0, 1);
    await stage.hub.channel("in").until((channel) => channel.unsettled === 1, bound());
    stage.clock.skip(2 * TTL_MS);
    gate.resolve();
    await stage.hub.channel("in").until((channel) => channel.unsettled === 0, bound());
    return { ...stage, received: stage.hub.channel("in").handedOut };
  }

  test("is not persisted", async () => {
    const stage = await heldUp({ deliveryMode: "shared_outbox" }, "pass");
    await using _ = stage;
    expect(stage.received).toBe(1);
    expect(stage.hub.channel("in").accepted).toBe(0);
    expect(await stage.a.outbox.backlog(bound())).toEqual([]);
  });

  test("is not dead-lettered", async () => {
    const stage = await heldUp({ policy: { sendTimeoutMs: TTL_MS / 2, onFiltered: "dlq" } }, "filter");
    await using _ = stage;
    expect(stage.hub.channel("in").accepted).toBe(0);
    expect(await stage.a.dlq.count(10, bound())).toBe(0);
  });

  test("is not sent", async () => {
    const stage = await heldUp({}, "pass");
    await using _ = stage;
    expect(stage.hub.channel("in").accepted).toBe(0);
    expect(stage.hub.channel("out").arrived).toBe(0);
    await stage.clock.until(() => stage.hub.channel("in").accepted === 1);
    expect(role(stage.b)).toBe("active");
  });
});

describe("changes of the configuration", () => {
  test("a lease is kept while the session that stands under it is replaced, and released when it is exclusive no more", async () => {
    await using stage = await pair();
    const { hub, clock, a, b } = stage;
    const { config } = a;
    const receivers = config.receivers.map((part) => ({
      ...part,
      options: { ...(part.options as object), counts: true },
    }));
    expect(await a.supervisor.apply({ ...config, receivers }, bound())).toBe("applied");
    await clock.until(() => level(a) === "full");
    expect(hub.link("plant-a s", "source").connections).toBe(2);
    expect(a.supervisor.stats().leases).toMatchObject([{ acquisitions: 1, losses: 0 }]);
    expect(role(b)).toBe("standby");
    const sessions = config.sessions.map((part) => ({ ...part, sessionMode: "persistent" as const }));
    expect(await a.supervisor.apply({ ...config, sessions }, bound())).toBe("applied");
    await clock.until(() => level(b) === "full");
    expect(role(a)).toBe("standalone");
  });

  test("another lease store restarts what stands under its leases", async () => {
    await using stage = await pair();
    const { config, supervisor } = stage.a;
    const stores = { ...config.stores, lease: { type: "test", reach: "process" as const, options: { name: "other" } } };
    expect(supervisor.plan({ ...config, stores })).toMatchObject({
      stores: ["lease"],
      sessions: { restarted: ["s"] },
      routes: { restarted: ["r"] },
    });
  });

  test("another ttl is in force with the next renewal, and stops nothing", async () => {
    await using stage = await pair();
    const { hub, clock, a } = stage;
    const next = { ...a.config, bridge: { ...a.config.bridge, leaseTtlMs: 8_000 } };
    expect(a.supervisor.plan(next)).toMatchObject({ inPlace: ["bridge.lease_ttl"], sessions: { restarted: [] } });
    await a.supervisor.apply(next, bound());
    await clock.advance(3 * TTL_MS);
    const leases = openMemoryLeases({ name: a.reach.name });
    expect(await leases.read("plant/s", bound())).toMatchObject({ token: 1, ttlMs: 8_000 });
    await leases[Symbol.asyncDispose]();
    expect(hub.link("plant-a s", "source").connections).toBe(1);
  });
});

describe("an exclusive target", () => {
  test("in shared_outbox both instances accept, and only the holder of the lease sends", async () => {
    const [clock, random] = [new FakeClock(), systemRandom()];
    const outbox = openMemoryOutbox({ maxRecords: 1_000, retentionMs: 3_600_000, clock, random });
    await using stage = await pair({
      clock,
      deliveryMode: "shared_outbox",
      outbox: { ...outbox, async [Symbol.asyncDispose]() {} },
      config: (config) => ({
        ...config,
        receivers: config.receivers.map((part) => ({ ...part, sessionId: undefined })),
      }),
    });
    const { hub, a, b } = stage;
    publish(hub, 0, 40);
    await hub.channel("in").waitForSettlements(40, bound());
    await hub.channel("out").until((channel) => channel.arrived === 40, bound());
    const attempts = [a, b].map(({ supervisor }) =>
      supervisor.stats().legs.reduce((sum, leg) => sum + leg.attempts, 0),
    );
    expect(attempts).toEqual([40, 0]);
  });

  test("in direct_hold a standby takes nothing from its source, which others may want", async () => {
    await using stage = await pair({
      config: (config) => ({
        ...config,
        receivers: config.receivers.map((part) => ({ ...part, sessionId: undefined })),
      }),
    });
    const { hub, clock, b } = stage;
    publish(hub, 0, 100);
    await hub.channel("in").waitForSettlements(100, bound());
    await clock.advance(1_000);
    expect(b.supervisor.stats().legs.reduce((sum, leg) => sum + leg.received, 0)).toBe(0);
  });
});
