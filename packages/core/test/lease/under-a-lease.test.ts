import { openMemoryLeases, openMemoryOutbox } from "@bridge/memory";
import { type OutboxStore, type Processor, type ProcessorResult, systemRandom } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, type MemoryBridgeOptions } from "../support/memory-bridge.ts";
import { level, type Pair, pair, POLL_MS, publish, role, TTL_MS } from "./pair.ts";

/** One turn takes longer than the part of a lease in which the longest send may begin. */
const RATE = 0.25;

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

test("a send over an exclusive target that could outlast its lease waits for the next renewal, wherever the message came from", async () => {
  await using stage = await pair({
    config: (config) => ({
      ...config,
      receivers: config.receivers.map((part) => ({ ...part, sessionId: undefined })),
    }),
  });
  const { hub, clock, a } = stage;
  a.reach.cut = true;
  await clock.advance(TTL_MS / 2 + POLL_MS / 2);
  publish(hub, 0, 1);
  await clock.advance(POLL_MS / 2);
  expect([role(a), hub.channel("out").arrived]).toEqual(["active", 0]);
  a.reach.cut = false;
  await clock.until(() => hub.channel("out").arrived === 1);
});

test("in shared_outbox a record that was lent in time and has to wait for the one before it waits for the next renewal too", async () => {
  await using stage = await pair({ deliveryMode: "shared_outbox" });
  const { hub, clock, a } = stage;
  using hold = hub.channel("out").sends.hold();
  for (const id of ["m0", "m1"]) hub.publish("in", { id, orderingKey: "one" });
  await hub.channel("out").until(({ sends }) => sends.held === 1, bound());
  a.reach.cut = true;
  await clock.advance(TTL_MS / 2 - 50);
  hold[Symbol.dispose]();
  await clock.advance(1_000);
  expect([role(a), hub.channel("out").arrived]).toEqual(["active", 1]);
  a.reach.cut = false;
  await clock.until(() => hub.channel("out").arrived === 2);
  expect(a.supervisor.stats().leases).toMatchObject([{ acquisitions: 1, losses: 0 }]);
});

test("in shared_outbox nothing is lent while a send could outlast the lease", async () => {
  const [clock, random] = [new FakeClock(), systemRandom()];
  const inner = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random });
  let claims = 0;
  const outbox: OutboxStore = {
    ...inner,
    claim(...args) {
      claims++;
      return inner.claim(...args);
    },
    async [Symbol.asyncDispose]() {},
  };
  await using stage = await pair({ deliveryMode: "shared_outbox", clock, outbox });
  const { a } = stage;
  a.reach.cut = true;
  await clock.advance(TTL_MS / 2 + POLL_MS / 2);
  const before = claims;
  await clock.advance(POLL_MS / 2);
  expect([role(a), claims]).toEqual(["active", before]);
  a.reach.cut = false;
  await clock.until(() => claims > before);
});

describe("finding 7.4: the longest send_timeout that a lease allows", () => {
  test.each(["direct_hold", "shared_outbox"] as const)("in %s sends go on", async (mode) => {
    const policy = { sendTimeoutMs: TTL_MS * (9 / 10) };
    await using stage = await pair({ deliveryMode: mode, policy });
    publish(stage.hub, 0, 20);
    await stage.clock.until(() => stage.hub.channel("out").arrived === 20);
    expect(role(stage.a)).toBe("active");
  });
});

test.each(["direct_hold", "shared_outbox"] as const)(
  "in %s a send whose turn by a rate limit comes when the lease is too short is made after the renewal, and takes no other turn",
  async (deliveryMode) => {
    await using stage = await pair({
      deliveryMode,
      policy: { sendTimeoutMs: TTL_MS * (9 / 10) },
      config: (config) => ({
        ...config,
        senders: config.senders.map((part) => ({ ...part, rateLimit: { messagesPerSecond: RATE, burst: 1 } })),
      }),
    });
    publish(stage.hub, 0, 5);
    await stage.clock.until(() => stage.hub.channel("out").arrived === 5);
    expect(role(stage.a)).toBe("active");
  },
);

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

test("spec 2.1: whoever finds its lease over by its clock is active no more, nor connected, before any timer has told it", async () => {
  await using stage = await pair();
  const { a, clock } = stage;
  expect([role(a), level(a)]).toEqual(["active", "full"]);
  clock.skip(2 * TTL_MS);
  const { role: told, sessions } = a.supervisor.view();
  expect([told, sessions]).toMatchObject(["standby", [{ hasLease: false, connected: false }]]);
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
    expect(await supervisor.plan({ ...config, stores }, bound())).toMatchObject({
      stores: ["lease"],
      sessions: { restarted: ["s"] },
      routes: { restarted: ["r"] },
    });
  });

  test("another ttl is in force with the next renewal, and stops nothing", async () => {
    await using stage = await pair();
    const { hub, clock, a } = stage;
    const next = { ...a.config, bridge: { ...a.config.bridge, leaseTtlMs: 8_000 } };
    expect(await a.supervisor.plan(next, bound())).toMatchObject({
      inPlace: ["bridge.lease_ttl"],
      sessions: { restarted: [] },
    });
    await a.supervisor.apply(next, bound());
    await clock.advance(3 * TTL_MS);
    const leases = openMemoryLeases({ name: a.reach.name });
    expect(await leases.read("plant/s", bound())).toMatchObject({ token: 1, ttlMs: 8_000 });
    await leases[Symbol.asyncDispose]();
    expect(hub.link("plant-a s", "source").connections).toBe(1);
  });
});
