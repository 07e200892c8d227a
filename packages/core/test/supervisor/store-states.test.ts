import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type DlqStore, type Logger, type OutboxStore, silentLogger, systemRandom } from "@bridge/ports";
import { describe, expect, test, vi } from "vitest";
import { envelopeOf } from "../support/envelope.ts";
import { BoundingClock } from "../support/bounding-clock.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge, outage } from "../support/memory-bridge.ts";
import { twoRoutes, withAttempts } from "../support/two-routes.ts";

const away = new BridgeError("CONNECTION_LOST", "10.0.0.7:5432: connection refused");
const noRoom = new BridgeError("UNAVAILABLE", "outbox.db: the disk is full", { retryAfterMs: 1_000 });
const refused = new BridgeError("SCHEMA_VIOLATION", "the tables are of version 1");

/** An outbox in memory with one record of a former process, and whether it has been closed. */
async function keptOutbox(clock: FakeClock, closed = vi.fn<() => Promise<void>>(async () => {})) {
  const memory = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const record = { id: "l", routeId: "r", bindingId: "out", address: "out", envelope: envelopeOf({ id: "former" }) };
  await memory.persist([{ ...record, payloadDigest: "d", createdAt: 0 }], bound());
  const store: OutboxStore = { ...memory, [Symbol.asyncDispose]: closed };
  return { store, closed };
}

describe("a store that cannot be opened yet", () => {
  test.each([
    ["its service is away", away],
    ["its disk is full", noRoom],
  ])(
    "is opened when it can be, as %s: its route waits, the other one does not, and readiness says so",
    async (_, why) => {
      const clock = new FakeClock();
      const { store } = await keptOutbox(clock);
      let there = false;
      const outbox = async () => {
        if (!there) throw why;
        return store;
      };
      const bridge = twoRoutes({ clock, deliveryMode: "shared_outbox", outbox });
      const { hub, supervisor } = bridge;
      const [r, q] = bridge.config.routes;
      if (r === undefined || q === undefined) throw new Error("there are two routes");
      await supervisor.apply({ ...bridge.config, routes: [r, { ...q, deliveryMode: "direct_hold" }] }, bound());
      await supervisor.start(bound());
      const since = clock.now();
      hub.publish("in", { id: "m1" });
      hub.publish("in2", { id: "m2" });
      await clock.until(() => hub.channel("out2").arrived === 1);
      expect(supervisor.view()).toMatchObject({
        level: "subscribed",
        stores: [
          { role: "dlq", state: "up" },
          { role: "outbox", state: "opening", open: false, since, fault: why.message },
        ],
      });
      expect(hub.channel("in").accepted).toBe(0);
      there = true;
      await clock.until(() => hub.channel("out").arrived === 2);
      expect(supervisor.view()).toMatchObject({
        level: "full",
        stores: [{}, { role: "outbox", state: "up", open: true }],
      });
      expect(supervisor.stats().legs.find(({ bindingId }) => bindingId === "out")).toMatchObject({ recovered: 1 });
      await supervisor.shutdown();
      expect(supervisor.stats().unaccounted).toBe(0);
    },
  );

  test("keeps no start waiting when its opening hangs, and is not left open when it comes after the shutdown", async () => {
    const opening = Promise.withResolvers<OutboxStore>();
    const clock = new FakeClock();
    const { store, closed } = await keptOutbox(clock);
    const { supervisor } = memoryBridge({ clock, deliveryMode: "shared_outbox", outbox: () => opening.promise });
    await supervisor.start(bound());
    expect(supervisor.view()).toMatchObject({ running: true, level: "subscribed", stores: [{}, { state: "opening" }] });
    await supervisor.shutdown();
    opening.resolve(store);
    await expect.poll(() => closed.mock.calls.length).toBe(1);
  });

  test("what is refused for good refuses the start, which may be tried again", async () => {
    let dlq = (): DlqStore => {
      throw refused;
    };
    const { supervisor } = memoryBridge({ dlq: async () => dlq() });
    await expect(supervisor.start(bound())).rejects.toThrow(refused.message);
    expect(supervisor.state().kind).toBe("paused");
    dlq = () => openMemoryDlq({ maxEntries: 1 });
    await supervisor.start(bound());
    expect(supervisor.view().level).toBe("full");
    await supervisor.shutdown();
  });
});

test("finding 2.5: a store is closed again when what it holds cannot be read", async () => {
  const clock = new FakeClock();
  const { store, closed } = await keptOutbox(clock);
  const blind: OutboxStore = { ...store, backlog: () => Promise.reject(away) };
  const { supervisor } = memoryBridge({ clock, deliveryMode: "shared_outbox", outbox: async () => blind });
  await supervisor.start(bound());
  await expect.poll(() => closed.mock.calls.length).toBe(1);
  await supervisor.shutdown();
  expect(closed).toHaveBeenCalledTimes(1);
});

test("finding 2.1: a change that cannot be made is undone also while a store is refused", async () => {
  const clock = new FakeClock();
  const { store } = await keptOutbox(clock);
  let openings = 0;
  const outbox = async () => {
    if (++openings === 2 || openings === 3) throw refused;
    return store;
  };
  const bridge = memoryBridge({ clock, deliveryMode: "shared_outbox", outbox });
  const { supervisor, config, hub } = bridge;
  await supervisor.start(bound());
  const block = { type: "test", reach: "process", options: { other: true } } as const;
  const next = { ...config, stores: { ...config.stores, outbox: block }, abandonBacklog: ["outbox"] } as const;
  await expect(supervisor.apply(next, bound())).rejects.toThrow(refused.message);
  expect(supervisor.view()).toMatchObject({
    state: "running",
    stores: [{}, { state: "opening", fault: refused.message }],
  });
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("out").arrived === 2);
  expect(openings).toBe(4);
  await supervisor.shutdown();
  expect(supervisor.stats().unaccounted).toBe(0);
});

test("finding 2.1: a route is changed while the outbox of this instance cannot be read", async () => {
  const clock = new FakeClock();
  const { store } = await keptOutbox(clock);
  let readable = true;
  const backlog: OutboxStore["backlog"] = (signal) => (readable ? store.backlog(signal) : Promise.reject(away));
  const { supervisor, config, hub } = memoryBridge({
    clock,
    deliveryMode: "shared_outbox",
    outbox: async () => ({ ...store, backlog }),
  });
  await supervisor.start(bound());
  await clock.until(() => hub.channel("out").arrived === 1);
  readable = false;
  expect(await supervisor.apply(withAttempts(config, "r", 9), bound())).toBe("applied");
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("out").arrived === 2);
  await supervisor.shutdown();
});

test("finding 2.4: a store that takes nothing costs the level full, and says since when", async () => {
  const clock = new FakeClock();
  let fault: string | undefined;
  const dlq: DlqStore = { ...openMemoryDlq({ maxEntries: 1 }), health: () => ({ fault, setAside: [] }) };
  const { supervisor } = memoryBridge({ clock, dlq });
  await supervisor.start(bound());
  expect(supervisor.view().level).toBe("full");
  await clock.advance(60_000);
  fault = "the server is away";
  expect(supervisor.view().level).toBe("subscribed");
  const since = clock.now();
  await clock.advance(5_000);
  expect(supervisor.view().stores).toMatchObject([{ state: "faulty", fault, since, open: true }]);
  fault = undefined;
  expect(supervisor.view().level).toBe("full");
  await supervisor.shutdown();
});

test("the log tells within a second that a store takes nothing, and that it does again, also when nobody looks", async () => {
  const told: string[] = [];
  const line = (text: string) => void told.push(text);
  const logger: Logger = {
    ...silentLogger,
    error: line,
    info: (text) => void (text.startsWith("store") && line(text)),
    child: () => logger,
  };
  let fault: string | undefined;
  const dlq: DlqStore = { ...openMemoryDlq({ maxEntries: 1 }), health: () => ({ fault, setAside: [] }) };
  const { clock, supervisor } = memoryBridge({ dlq, logger });
  await supervisor.start(bound());
  await clock.advance(1_000);
  expect(supervisor.view().stores[0]).not.toHaveProperty("fault");
  for (fault of ["the server is away", undefined, "it is away again", undefined]) await clock.advance(1_000);
  const once = ["store faulty: what needs it waits", "store up again"];
  expect(told).toEqual([...once, ...once]);
  await supervisor.shutdown();
});

test("a store that is not open after 30 s has failed, and is tried again", async () => {
  const clock = new BoundingClock();
  let tries = 0;
  const { supervisor } = memoryBridge({
    clock,
    dlq: () => (tries++ === 0 ? new Promise(() => {}) : Promise.resolve(openMemoryDlq({ maxEntries: 1 }))),
  });
  expect(supervisor.view().stores).toMatchObject([{ role: "dlq", type: "test", state: "closed", open: false }]);
  const started = supervisor.start(bound());
  await clock.advance(2_000);
  await started;
  await clock.advance(28_000);
  const fault = "the dlq store was not open after 30000 ms";
  expect(supervisor.view().stores).toMatchObject([{ state: "opening", open: false, fault }]);
  await clock.until(() => supervisor.view().level === "full");
  expect(tries).toBe(2);
  await supervisor.shutdown();
});

test("a change that takes one store away fails with what the other one was refused with", async () => {
  let opened = 0;
  const dlq = async () => {
    if (opened++ === 1) throw refused;
    return openMemoryDlq({ maxEntries: 1 });
  };
  const block = { type: "test", reach: "process", options: {} } as const;
  const clock = new FakeClock();
  const { supervisor, config } = memoryBridge({
    clock,
    dlq,
    outbox: async () => openMemoryOutbox({ maxRecords: 1, retentionMs: 3_600_000, clock, random: systemRandom() }),
    config: (plain) => ({ ...plain, stores: { ...plain.stores, outbox: block } }),
  });
  await supervisor.start(bound());
  const stores = { dlq: { ...block, options: { other: true } } };
  await expect(supervisor.apply({ ...config, stores }, bound())).rejects.toThrow("the tables are of version 1");
  await clock.until(() => supervisor.view().level === "full");
  expect(supervisor.view().stores).toMatchObject([{ role: "dlq" }, { role: "outbox" }]);
  await supervisor.shutdown();
});

test("how many entries of a store are spoiled is told when there are any; those of an outbox keep readiness below full, and dead letters do not", async () => {
  const clock = new FakeClock();
  const spoiled = { dlq: 0, outbox: 0 };
  const health = (role: keyof typeof spoiled) => () => ({ setAside: [], spoiled: spoiled[role] });
  const dlq: DlqStore = { ...openMemoryDlq({ maxEntries: 1 }), health: health("dlq") };
  const { store } = await keptOutbox(clock);
  const outbox = async (): Promise<OutboxStore> => ({ ...store, health: health("outbox") });
  const { supervisor } = memoryBridge({ clock, dlq, outbox, deliveryMode: "shared_outbox" });
  await supervisor.start(bound());
  await clock.until(() => supervisor.view().level === "full");
  for (const each of supervisor.view().stores) expect(each).not.toHaveProperty("spoiled");
  spoiled.dlq = 2;
  expect(supervisor.view()).toMatchObject({ level: "full", stores: [{ role: "dlq", spoiled: 2 }, { role: "outbox" }] });
  spoiled.outbox = 1;
  expect(supervisor.view()).toMatchObject({ level: "subscribed", stores: [{}, { role: "outbox", spoiled: 1 }] });
  await supervisor.shutdown();
});

test("a change is made while a store is still away, and each try that fails is in the log", async () => {
  const clock = new FakeClock();
  const told: unknown[] = [];
  const error: Logger["error"] = (line, fields) => void told.push([line.slice(0, 14), fields]);
  const logger: Logger = { ...silentLogger, error, child: () => logger };
  let there = false;
  const dlq = async () => {
    if (!there) throw away;
    return openMemoryDlq({ maxEntries: 1 });
  };
  const { supervisor, config } = memoryBridge({ clock, dlq, logger });
  await supervisor.start(bound());
  expect(await supervisor.apply(withAttempts(config, "r", 9), bound())).toBe("applied");
  const failure = (tries: number) => ["store not open", { code: "CONNECTION_LOST", error: away.message, tries }];
  expect(told).toEqual([failure(1)]);
  await clock.until(() => told.length === 2);
  expect(told[1]).toEqual(failure(2));
  there = true;
  await clock.until(() => supervisor.view().level === "full");
  await supervisor.shutdown();
});

test("a store of which a change gets rid and that does not close is in the log, and keeps nobody from going on", async () => {
  const told: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (...line) => void told.push(line), child: () => logger };
  const open = async (): Promise<DlqStore> => ({
    ...openMemoryDlq({ maxEntries: 1 }),
    [Symbol.asyncDispose]: () => Promise.reject(new Error("it is busy")),
  });
  const { supervisor, config } = memoryBridge({ dlq: open, logger });
  await supervisor.start(bound());
  const dlq = { type: "test", reach: "process", options: { other: true } } as const;
  expect(await supervisor.apply({ ...config, stores: { dlq } }, bound())).toBe("applied");
  expect(told).toEqual([["not closed", { part: "store dlq", error: "it is busy" }]]);
  await expect(supervisor.shutdown()).rejects.toMatchObject({ phases: ["store dlq"] });
});

test("a start that fails because one store was refused keeps the others open, with what they hold, for the next start", async () => {
  const clock = new FakeClock();
  const { store, closed } = await keptOutbox(clock);
  let bad = true;
  const dlq = async () => {
    if (bad) throw refused;
    return openMemoryDlq({ maxEntries: 10 });
  };
  const { hub, supervisor } = memoryBridge({ clock, deliveryMode: "shared_outbox", outbox: store, dlq });
  await expect(supervisor.start(bound())).rejects.toThrow("the tables are of version 1");
  expect(supervisor.outbox()).toBeDefined();
  expect(closed).not.toHaveBeenCalled();
  bad = false;
  await supervisor.start(bound());
  await clock.until(() => hub.channel("out").arrived === 1);
  expect(supervisor.stats()).toMatchObject({ unaccounted: 0, legs: [{ recovered: 1 }, {}] });
  await supervisor.shutdown();
});

test("what an outbox holds that opens late takes the room that its route has there", async () => {
  const clock = new FakeClock();
  const { store } = await keptOutbox(clock);
  let there = false;
  const outbox = async () => {
    if (!there) throw away;
    return store;
  };
  const bridge = memoryBridge({
    clock,
    deliveryMode: "shared_outbox",
    outbox,
    policy: { maxOutboxDepth: 1, maxReplayAttempts: 1_000 },
  });
  const { hub, supervisor } = bridge;
  hub.channel("out").sends.failNext(1_000, outage);
  await supervisor.start(bound());
  there = true;
  await clock.until(() => supervisor.outbox() !== undefined);
  hub.publish("in", { id: "m" });
  await clock.advance(5_000);
  expect(hub.channel("in").accepted).toBe(0);
  hub.channel("out").sends.clear();
  await clock.until(() => hub.channel("out").arrived === 2);
  await supervisor.shutdown();
});
