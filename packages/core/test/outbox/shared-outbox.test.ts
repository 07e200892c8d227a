import {
  BridgeError,
  type DeadLetter,
  type DlqStore,
  type LogFields,
  type OutboxStore,
  silentLogger,
  systemRandom,
  type TransportPlugin,
} from "@bridge/ports";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { describe, expect, test } from "vitest";
import { deadLetterOf } from "../../src/route/dead-letter.ts";
import { envelopeOf } from "../support/envelope.ts";
import { FakeClock, turn } from "../support/fake-clock.ts";
import {
  bound,
  type MemoryBridge,
  memoryBridge,
  type MemoryBridgeOptions,
  outage,
  refusal,
} from "../support/memory-bridge.ts";

async function started(options: MemoryBridgeOptions = {}): Promise<MemoryBridge> {
  const bridge = memoryBridge({ deliveryMode: "shared_outbox", ...options });
  await bridge.supervisor.start(bound());
  return bridge;
}

const dead = async (dlq: DlqStore): Promise<readonly DeadLetter[]> => {
  const heads = await dlq.list({}, { limit: 100, offset: 0 }, bound());
  const entries = await Promise.all(heads.map((head) => dlq.get(head.id, bound())));
  return entries.filter((entry) => entry !== undefined);
};

/** A memory outbox on a clock that no test advances for it, with calls that can be replaced. */
function outboxWith(changes: (inner: OutboxStore) => Partial<OutboxStore>): OutboxStore {
  const inner = openMemoryOutbox({
    maxRecords: 10_000,
    retentionMs: 3_600_000,
    clock: new FakeClock(),
    random: systemRandom(),
  });
  return { ...inner, ...changes(inner) };
}

/** The sources of these bridges wait for an answer, as callers over HTTP do. */
const CALLED: MemoryBridgeOptions = {
  transports: (memory) => {
    const { receiver: waiting } = memory;
    if (waiting === undefined) throw new Error("no receiver");
    const receiver: NonNullable<TransportPlugin["receiver"]> = {
      ...waiting,
      create(options, context) {
        const inner = waiting.create(options, context);
        return {
          async *receive(signal) {
            for await (const delivery of inner.receive(signal)) yield Object.assign(delivery, { refusable: true });
          },
          [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
        };
      },
    };
    return [{ ...memory, type: "called", receiver }];
  },
  config: (config) => ({
    ...config,
    receivers: config.receivers.map((receiver) => ({ ...receiver, transport: "called" })),
  }),
};

describe("shared_outbox: the source is settled when the record is durable", () => {
  test("persisted first, delivered after", async () => {
    const { hub, clock, supervisor } = await started();
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1", payload: "hello" });
    const [settled] = await hub.channel("in").waitForSettlements(1, bound());
    expect(settled?.settlement).toEqual({ kind: "accept", outcome: "persisted", envelopeId: "m1" });
    expect(hub.channel("out").arrived).toBe(0);
    expect(supervisor.stats().legs[0]).toMatchObject({ inFlight: 0, inOutbox: 1 });
    hold[Symbol.dispose]();
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.delivered === 1);
    expect(hub.channel("out").messages()[0]).toMatchObject({ id: "m1" });
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("a redelivery of the source is a duplicate, counted and not sent again", async () => {
    const { hub, clock, supervisor } = await started();
    for (let times = 0; times < 3; times++) hub.publish("in", { id: "m1", payload: "same" });
    await clock.until(() => hub.channel("in").accepted === 3 && hub.channel("out").arrived === 1);
    expect(supervisor.stats().legs[0]?.dispositions).toMatchObject({ delivered: 1, duplicate: 2 });
    await supervisor.shutdown();
  });

  test("another payload under a known id is ID_CONFLICT, by the policy", async () => {
    const bridge = await started();
    const { hub, clock, supervisor } = bridge;
    hub.publish("in", { id: "m1", payload: "one" });
    await clock.until(() => hub.channel("in").accepted === 1);
    hub.publish("in", { id: "m1", payload: "two" });
    await clock.until(() => hub.channel("in").accepted === 2);
    expect(await dead(bridge.dlq)).toMatchObject([
      { errorCode: "ID_CONFLICT", category: "rejected", bindingId: "out" },
    ]);
    await supervisor.shutdown();
  });

  test("a caller who waits for the answer is told of an ID_CONFLICT, and nothing is written", async () => {
    const bridge = await started(CALLED);
    const { hub, supervisor } = bridge;
    hub.publish("in", { id: "m1", payload: "one" });
    hub.publish("in", { id: "m1", payload: "two" });
    const settled = await hub.channel("in").waitForSettlements(2, bound());
    expect(settled.map(({ settlement }) => settlement.kind)).toEqual(["accept", "refuse"]);
    expect(await dead(bridge.dlq)).toEqual([]);
    expect(supervisor.stats()).toMatchObject({ unaccounted: 0, legs: [{ dispositions: { released: 1 } }, {}] });
    await supervisor.shutdown();
  });

  test("fan_out: an ID_CONFLICT of one leg refuses nothing that another leg has taken; it goes by the policy", async () => {
    const bridge = await started({ ...CALLED, dispatchMode: "fan_out", bindings: ["a", "b"] });
    const { hub, clock, supervisor } = bridge;
    // Of an earlier message, when there was no binding `a`.
    const envelope = envelopeOf({ payload: new TextEncoder().encode("one") });
    const earlier = { id: "e", routeId: "r", bindingId: "b", address: "b", envelope, payloadDigest: "d", createdAt: 0 };
    await bridge.outbox.persist([earlier], bound());
    for (let times = 0; times < 2; times++) hub.publish("in", { id: "m1", payload: "two" });
    const settled = await hub.channel("in").waitForSettlements(2, bound());
    expect(settled.map(({ settlement }) => settlement)).toEqual([
      { kind: "accept", outcome: "dead_lettered", envelopeId: "m1" },
      { kind: "accept", outcome: "dead_lettered", envelopeId: "m1" },
    ]);
    await clock.until(() => hub.channel("a").arrived === 1);
    expect(await dead(bridge.dlq)).toMatchObject([{ errorCode: "ID_CONFLICT", bindingId: "b" }]);
    await supervisor.shutdown();
  });

  test("a store that cannot be written to for a while: what was delivered meanwhile is not delivered again", async () => {
    let failing = false;
    const outbox = outboxWith((inner) => ({
      finish: async (ends, signal) => {
        if (failing) throw new BridgeError("UNAVAILABLE", "disk full");
        return inner.finish(ends, signal);
      },
    }));
    const { hub, clock, supervisor } = await started({ outbox });
    hub.publish("in", { id: "m1" });
    failing = true;
    await clock.until(() => hub.channel("out").arrived === 1);
    await clock.advance(30_000);
    expect(supervisor.view().level).toBe("subscribed");
    failing = false;
    await clock.until(() => supervisor.stats().legs[0]?.inOutbox === 0);
    expect(hub.channel("out").arrived).toBe(1);
    expect(supervisor.view().level).toBe("full");
    await supervisor.shutdown();
  });

  test("a write that fails leaves the message unsettled, is tried again and shows in readiness", async () => {
    let failing = true;
    const outbox = outboxWith((inner) => ({
      persist: async (records, signal) => {
        if (failing) throw new BridgeError("UNAVAILABLE", "disk full");
        return inner.persist(records, signal);
      },
    }));
    const { hub, clock, supervisor } = await started({ outbox });
    hub.publish("in", { id: "m1" });
    await clock.advance(10_000);
    expect(hub.channel("in")).toMatchObject({ accepted: 0, unsettled: 1 });
    expect(supervisor.view().level).toBe("subscribed");
    expect(supervisor.stats().routes[0]?.outboxWriteFailures).toBeGreaterThan(1);
    failing = false;
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(supervisor.view().level).toBe("full");
    await supervisor.shutdown();
  });

  test("writes that fail are logged once for all messages of the route, and again when they fail otherwise", async () => {
    let fault = "disk full";
    const outbox = outboxWith((inner) => ({
      persist: async (records, signal) => {
        if (fault !== "") throw new BridgeError("UNAVAILABLE", fault);
        return inner.persist(records, signal);
      },
    }));
    const told: unknown[] = [];
    const error = (message: string, fields?: LogFields): void => {
      if (message.startsWith("outbox write failed")) told.push(fields?.["error"]);
    };
    const logger = { ...silentLogger, error, child: () => logger };
    const { hub, clock, supervisor } = await started({ outbox, logger });
    for (const id of ["m1", "m2", "m3"]) hub.publish("in", { id });
    await clock.advance(10_000);
    expect(supervisor.stats().routes[0]?.outboxWriteFailures).toBeGreaterThan(6);
    expect(told).toEqual(["disk full"]);
    fault = "input/output error";
    await clock.advance(60_000);
    expect(told).toEqual(["disk full", "input/output error"]);
    fault = "";
    await clock.until(() => hub.channel("in").accepted === 3);
    fault = "disk full";
    hub.publish("in", { id: "m4" });
    await clock.advance(10_000);
    expect(told).toEqual(["disk full", "input/output error", "disk full"]);
    await supervisor.shutdown();
  });

  test("writes that fail alike are logged once, though the text names another request each time", async () => {
    let requests = 0;
    const outbox = outboxWith(() => ({
      persist: () => Promise.reject(new BridgeError("NOT_AUTHORIZED", `not allowed (request 6b1c-${++requests}-7f)`)),
    }));
    const told: unknown[] = [];
    const error = (message: string, fields?: LogFields): void => {
      if (message.startsWith("outbox write failed")) told.push(fields?.["error"]);
    };
    const logger = { ...silentLogger, error, child: () => logger };
    const { hub, clock, supervisor } = await started({ outbox, logger });
    for (const id of ["m1", "m2", "m3"]) hub.publish("in", { id });
    await clock.advance(10_000);
    expect(requests).toBeGreaterThan(2);
    expect(told).toEqual(["not allowed (request 6b1c-1-7f)"]);
    await supervisor.shutdown();
  });

  test("a write whose answer got lost is repeated and is no duplicate of itself", async () => {
    let lost = 1;
    const outbox = outboxWith((inner) => ({
      persist: async (records, signal) => {
        const results = await inner.persist(records, signal);
        if (lost-- > 0) throw new BridgeError("TIMEOUT", "no answer");
        return results;
      },
    }));
    const { hub, clock, supervisor } = await started({ outbox });
    hub.publish("in", { id: "m1" });
    await clock.until(
      () => supervisor.stats().legs[0]?.dispositions.delivered === 1 && hub.channel("in").accepted === 1,
    );
    expect(supervisor.stats().legs[0]?.dispositions).toMatchObject({ delivered: 1, duplicate: 0 });
    expect(hub.channel("out").arrived).toBe(1);
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test.each([
    { delivered: "before", order: "its source takes it back" },
    { delivered: "after", order: "its source takes it back" },
  ])("finding 7.3: a write whose answer got lost, drained $delivered $order, is in the books once", async (drained) => {
    let answering = false;
    const outbox = outboxWith((inner) => ({
      persist: async (records, signal) => {
        const results = await inner.persist(records, signal);
        if (!answering) throw new BridgeError("TIMEOUT", "no answer");
        return results;
      },
    }));
    const { hub, clock, supervisor } = await started({ outbox, session: true });
    await clock.until(() => supervisor.view().level === "full");
    const hold = drained.delivered === "after" ? hub.channel("out").sends.hold() : undefined;
    hub.publish("in", { id: "m1" });
    await clock.until(() => (supervisor.stats().routes[0]?.outboxWriteFailures ?? 0) > 0);
    if (hold === undefined) await clock.until(() => supervisor.stats().legs[0]?.dispositions.delivered === 1);
    hub.link("s", "source").cut();
    await clock.until(() => supervisor.stats().routes[0]?.inFlight === 0);
    answering = true;
    hold?.[Symbol.dispose]();
    await clock.until(() => hub.channel("in").accepted === 1 && hub.channel("out").arrived === 1);
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.delivered === 1);
    expect(supervisor.stats().legs[0]).toMatchObject({
      inOutbox: 0,
      recovered: hold === undefined ? 0 : 1,
      inFlight: 0,
    });
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("max_outbox_depth pushes back: intake waits at the source and goes on as records leave", async () => {
    const { hub, clock, supervisor } = await started({ policy: { maxOutboxDepth: 3, maxInFlight: 5 } });
    const hold = hub.channel("out").sends.hold();
    for (let at = 0; at < 10; at++) hub.publish("in", { id: `m${at}` });
    await clock.until(() => hub.channel("in").unsettled === 5);
    await clock.advance(5_000);
    expect(supervisor.stats().legs[0]?.inOutbox).toBe(3);
    expect(supervisor.view().level).toBe("subscribed");
    hold[Symbol.dispose]();
    await clock.until(() => hub.channel("out").arrived === 10);
    expect(supervisor.view().level).toBe("full");
    await supervisor.shutdown();
  });

  test("finding 10.1: what was there already takes no room, nor what another payload is under", async () => {
    const { hub, clock, supervisor } = await started({ policy: { maxOutboxDepth: 2 } });
    for (let at = 0; at < 10; at++) hub.publish("in", { id: "m1", payload: at < 5 ? "same" : "other" });
    await clock.until(() => hub.channel("in").accepted === 10);
    const hold = hub.channel("out").sends.hold();
    for (const id of ["m2", "m3"]) hub.publish("in", { id });
    await clock.until(() => hub.channel("in").accepted === 12);
    expect(supervisor.stats().legs.map(({ inOutbox }) => inOutbox)).toContain(2);
    hold[Symbol.dispose]();
    await clock.until(() => hub.channel("out").arrived === 3);
    await supervisor.shutdown();
  });
});

describe("the drain", () => {
  test("finding 10.1: what a batch cannot send in its time goes back uncharged, so that no loan lapses under a send", async () => {
    const clock = new FakeClock();
    const memory = openMemoryOutbox({ maxRecords: 100, retentionMs: 3_600_000, clock, random: systemRandom() });
    const lost: boolean[] = [];
    const ends: string[] = [];
    const outbox: OutboxStore = {
      ...memory,
      async finish(given, signal) {
        const entered = await memory.finish(given, signal);
        lost.push(...entered.filter((one) => !one));
        for (const { outcome } of given)
          ends.push(outcome.kind === "retry" ? `${outcome.attempts} tries` : outcome.kind);
        return entered;
      },
    };
    // One key, so that they go one after another.
    const policy = { sendTimeoutMs: 1_000 };
    const { hub, supervisor } = await started({ clock, outbox, policy });
    const hold = hub.channel("out").sends.hold();
    for (let at = 0; at < 40; at++) hub.publish("in", { id: `m${at}`, orderingKey: "key" });
    await clock.until(() => hub.channel("in").accepted === 40);
    hold[Symbol.dispose]();
    let sent = 0;
    while (hub.channel("out").arrived < 40) {
      const slow = hub.channel("out").sends.hold();
      await clock.until(() => hub.channel("out").sends.held === 1);
      await clock.advance(900);
      slow[Symbol.dispose]();
      sent++;
      await clock.advance(0);
    }
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.delivered === 40);
    expect(sent).toBeLessThanOrEqual(40);
    expect(lost).toEqual([]);
    expect(new Set(ends)).toEqual(new Set(["done", "0 tries"]));
    expect(hub.channel("out").arrived).toBe(40);
    await supervisor.shutdown();
  });

  test("an end whose answer got lost is in the books once, and takes no room any more", async () => {
    let lost = 1;
    const outbox = outboxWith((inner) => ({
      finish: async (ends, signal) => {
        const results = await inner.finish(ends, signal);
        if (lost-- > 0) throw new BridgeError("TIMEOUT", "no answer");
        return results;
      },
    }));
    const { hub, clock, supervisor } = await started({ outbox, policy: { maxOutboxDepth: 1 } });
    hub.publish("in", { id: "m1" });
    hub.publish("in", { id: "m2" });
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.delivered === 2);
    expect(supervisor.stats().legs[0]?.inOutbox).toBe(0);
    expect(hub.channel("out").arrived).toBe(2);
    expect(supervisor.stats().unaccounted).toBe(0);
    expect(supervisor.view().level).toBe("full");
    await supervisor.shutdown();
  });

  test("retries a transient failure with backoff; attempts count sends; then the policy, its entry durable first", async () => {
    const bridge = await started({ policy: { maxReplayAttempts: 3 } });
    const { hub, clock, supervisor } = bridge;
    hub.channel("out").sends.failNext(Infinity, outage);
    hub.publish("in", { id: "m1", payload: "x" });
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.dead_lettered === 1);
    expect(supervisor.stats().legs[0]).toMatchObject({ attempts: 3, inOutbox: 0 });
    expect(await dead(bridge.dlq)).toMatchObject([{ bindingId: "out", errorCode: "UNAVAILABLE", attempts: 3 }]);
    await supervisor.shutdown();
  });

  test("a failure that is not charged takes none of max_replay_attempts, however often it comes", async () => {
    const { hub, clock, supervisor } = await started({ policy: { maxReplayAttempts: 3 } });
    const notCharged = new BridgeError("UNAVAILABLE", "not tried at all", { charged: false });
    hub.channel("out").sends.failNext(10, notCharged);
    hub.publish("in", { id: "m1" });
    await clock.until(() => supervisor.stats().legs[0]?.attempts === 10, 100);
    hub.channel("out").sends.failNext(1, outage);
    await clock.until(() => supervisor.stats().legs[0]?.inOutbox === 0 && hub.channel("in").accepted === 1, 100);
    expect(supervisor.stats().legs[0]?.dispositions).toMatchObject({ delivered: 1, dead_lettered: 0 });
    expect(hub.channel("out").arrived).toBe(1);
    await supervisor.shutdown();
  });

  test("a dead letter that cannot be written keeps the record, uncharged, until it can", async () => {
    const inner = openMemoryDlq({ maxEntries: 10 });
    let failing = true;
    const dlq: DlqStore = {
      ...inner,
      put: async (entry, signal) => {
        if (failing) throw new BridgeError("UNAVAILABLE", "disk full");
        await inner.put(entry, signal);
      },
    };
    const { hub, clock, supervisor } = await started({ dlq });
    hub.channel("out").sends.failNext(Infinity, refusal);
    hub.publish("in", { id: "m1" });
    await clock.until(() => (supervisor.stats().routes[0]?.dlqWriteFailures ?? 0) > 1);
    expect(supervisor.stats().legs[0]?.inOutbox).toBe(1);
    expect(supervisor.view().level).toBe("subscribed");
    failing = false;
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.dead_lettered === 1);
    expect(await dead(inner)).toMatchObject([{ attempts: 1 }]);
    expect(supervisor.view().level).toBe("full");
    await supervisor.shutdown();
  });

  test("a store that cannot be read is asked less and less often", async () => {
    let [asked, away] = [0, false];
    const outbox = outboxWith((inner) => ({
      claim: async (request, signal) => {
        asked++;
        if (away) throw new BridgeError("UNAVAILABLE", "away");
        return inner.claim(request, signal);
      },
    }));
    const { clock, supervisor } = await started({ outbox });
    away = true;
    await clock.until(() => supervisor.view().level === "subscribed");
    asked = 0;
    await clock.advance(120_000);
    // After 1, 2, 4, 8 and 16 s, and every 30 s, or a fifth sooner.
    expect(asked).toBeLessThanOrEqual(10);
    expect(asked).toBeGreaterThanOrEqual(4);
    away = false;
    await clock.until(() => supervisor.view().level === "full");
    await supervisor.shutdown();
  });

  test("a record whose time for retries is over goes to the DLQ, counted from when it came in, and is dead", async () => {
    const policy = { replayBudgetMs: 30_000, maxReplayAttempts: 2 };
    const { hub, clock, outbox, supervisor, dlq } = await started({ policy });
    hub.channel("out").sends.failNext(Infinity, outage);
    const before = clock.now();
    hub.publish("in", { id: "m1" });
    await clock.until(() => (supervisor.stats().legs[0]?.attempts ?? 0) > 0);
    const [head] = await outbox.list({}, { limit: 1, offset: 0 }, bound());
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.dead_lettered === 1, 100);
    expect(clock.now() - before).toBeGreaterThanOrEqual(30_000);
    expect(await dead(dlq)).toHaveLength(1);
    expect(await outbox.status(head?.id ?? "", bound())).toBe("dead");
    await supervisor.shutdown();
  });

  test("a record that expires in the outbox follows on_expired and is not sent", async () => {
    const { hub, clock, supervisor } = await started({ policy: { onExpired: "drop" } });
    hub.channel("out").sends.failNext(1, outage);
    hub.publish("in", { id: "m1", expiresAt: clock.now() + 500 });
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.expired === 1);
    expect(hub.channel("out").arrived).toBe(0);
    await supervisor.shutdown();
  });

  test("ordering keys hold across retries: a younger record of a key never overtakes", async () => {
    const { hub, clock, supervisor } = await started();
    hub.channel("out").sends.failNext(2, outage);
    for (const [id, orderingKey] of [
      ["a1", "a"],
      ["a2", "a"],
      ["b1", "b"],
      ["a3", "a"],
      ["b2", "b"],
    ] as const) {
      hub.publish("in", { id, orderingKey });
    }
    await clock.until(() => hub.channel("out").arrived === 5);
    const ids = hub
      .channel("out")
      .messages()
      .map((message) => message.id ?? "");
    expect(ids.filter((id) => id.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
    expect(ids.filter((id) => id.startsWith("b"))).toEqual(["b1", "b2"]);
    await supervisor.shutdown();
  });

  test("the next record of a key is claimed as soon as the one before it has been delivered, not at the next poll", async () => {
    const { hub, clock, supervisor } = await started({ policy: { maxInFlight: 10 } });
    const hold = hub.channel("out").sends.hold();
    for (let at = 0; at < 60; at++) hub.publish("in", { id: `m${at}`, orderingKey: `k${at % 2}` });
    await clock.until(() => hub.channel("in").accepted === 60);
    const heldUntil = clock.now();
    hold[Symbol.dispose]();
    await clock.until(() => hub.channel("out").arrived === 60);
    expect(clock.now() - heldUntil).toBeLessThan(1_000);
    await supervisor.shutdown();
  });

  test("records of a binding that is configured no more are kept, told of, take no room, and can be dead-lettered", async () => {
    const outbox = outboxWith(() => ({}));
    const lost = { id: "l", routeId: "r", bindingId: "gone", address: "x", envelope: envelopeOf(), payloadDigest: "d" };
    await outbox.persist([{ ...lost, createdAt: 0 }], bound());
    const lines: unknown[] = [];
    const logger = { ...silentLogger, warn: (message: string, fields?: LogFields) => lines.push([message, fields]) };
    const bridge = await started({ outbox, logger: { ...logger, child: () => logger }, policy: { maxOutboxDepth: 1 } });
    const { hub, clock, supervisor } = bridge;
    await clock.until(() => lines.length > 0);
    expect(lines).toEqual([
      [expect.stringContaining("nobody delivers"), { route_id: "r", binding_id: "gone", records: 1 }],
    ]);
    hub.publish("in", { id: "m2" });
    await clock.until(() => hub.channel("out").arrived === 1);
    expect(await outbox.backlog(bound())).toMatchObject([{ bindingId: "gone", depth: 1 }]);
    expect(await supervisor.deadLetterRecords(["l"], bound())).toEqual({ moved: 1, errors: [] });
    expect(await dead(bridge.dlq)).toMatchObject([{ bindingId: "gone" }]);
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("records of a binding that is configured no more take no room either when the outbox opens late", async () => {
    const outbox = outboxWith(() => ({}));
    const lost = { id: "l", routeId: "r", bindingId: "gone", address: "x", envelope: envelopeOf(), payloadDigest: "d" };
    await outbox.persist([{ ...lost, createdAt: 0 }], bound());
    let away = true;
    const open = async () => {
      if (away) throw new BridgeError("CONNECTION_LOST", "away");
      return outbox;
    };
    const { hub, clock, supervisor } = await started({ outbox: open, policy: { maxOutboxDepth: 1 } });
    away = false;
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("out").arrived === 1);
    expect(supervisor.view().level).toBe("full");
    await supervisor.shutdown();
  });

  test("fan_out: a leg that fails leaves the others untouched, and its entry names its binding", async () => {
    const bridge = await started({ dispatchMode: "fan_out", bindings: ["a", "b"] });
    const { hub, clock, supervisor } = bridge;
    hub.channel("b").sends.failNext(1, refusal);
    hub.publish("in", { id: "m1" });
    await clock.until(
      () => hub.channel("a").arrived === 1 && supervisor.stats().legs.every((leg) => leg.inOutbox === 0),
    );
    expect(await dead(bridge.dlq)).toMatchObject([{ bindingId: "b" }]);
    expect(hub.channel("b").arrived).toBe(0);
    await supervisor.shutdown();
  });

  test("while the binding's session is down nothing is claimed and nothing is charged", async () => {
    const { hub, clock, supervisor } = await started({ session: true, policy: { maxReplayAttempts: 1 } });
    await clock.until(() => supervisor.view().level === "full");
    hub.link("s", "target").down();
    await clock.until(() => supervisor.view().level === "running");
    hub.publish("in", { id: "m1" });
    await clock.advance(60_000);
    expect(supervisor.stats().legs[0]).toMatchObject({ inOutbox: 1, attempts: 0 });
    hub.link("s", "target").up();
    await clock.until(() => hub.channel("out").arrived === 1, 100);
    await supervisor.shutdown();
  });

  test("a stop leaves undelivered records in place; the next process finds and delivers them, and the accounts agree", async () => {
    const first = await started({ quiesceTimeoutMs: 1 });
    using _ = first.hub.channel("out").sends.hold();
    for (let at = 0; at < 5; at++) first.hub.publish("in", { id: `m${at}` });
    await first.hub.channel("out").until((channel) => channel.sends.held === 5, bound());
    const kept: OutboxStore = { ...first.outbox, [Symbol.asyncDispose]: async () => {} };
    const second = memoryBridge({ deliveryMode: "shared_outbox", outbox: kept });
    await first.supervisor.stop(bound());
    expect(first.supervisor.stats().legs[0]).toMatchObject({ inOutbox: 5, attempts: 5 });
    await second.supervisor.start(bound());
    expect(second.supervisor.stats().legs[0]).toMatchObject({ recovered: 5 });
    await second.clock.until(() => second.hub.channel("out").arrived === 5);
    await second.clock.until(() => second.supervisor.stats().legs[0]?.inOutbox === 0);
    expect(second.supervisor.stats().unaccounted).toBe(0);
    await Promise.all([first.supervisor.shutdown(), second.supervisor.shutdown()]);
  });
});

describe("inject and redrive answer about delivery", () => {
  const message = { subject: "s", payload: new TextEncoder().encode("x") };

  test("an inject is answered when the record has been delivered, or has failed", async () => {
    const { hub, supervisor } = await started();
    const hold = hub.channel("out").sends.hold();
    const injected = supervisor.inject("r", { ...message, id: "m1" }, { signal: bound() });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    hold[Symbol.dispose]();
    expect(await injected).toEqual({ envelopeId: "m1", outcome: "delivered", failedBindings: [] });
    hub.channel("out").sends.failNext(1, refusal);
    expect(await supervisor.inject("r", { ...message, id: "m2" }, { signal: bound() })).toMatchObject({
      outcome: "dead_lettered",
      error: { code: "REJECTED" },
      failedBindings: ["out"],
    });
    await supervisor.shutdown();
  });

  test("spec 4.4.5: an id that is in the outbox already is swallowed as a duplicate, with a warning", async () => {
    const { hub, supervisor } = await started();
    await supervisor.inject("r", { ...message, id: "m1" }, { signal: bound() });
    const again = await supervisor.inject("r", { ...message, id: "m1" }, { signal: bound() });
    expect(again).toMatchObject({
      outcome: "delivered",
      warning: expect.stringContaining("seen this message id") as string,
    });
    expect(hub.channel("out").arrived).toBe(1);
    await supervisor.shutdown();
  });

  test("at the bound an inject says that it is still pending; the outbox goes on with it", async () => {
    const { hub, clock, supervisor } = await started();
    const hold = hub.channel("out").sends.hold();
    const stop = new AbortController();
    const injected = supervisor.inject("r", { ...message, id: "m1" }, { signal: stop.signal });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    stop.abort(new Error("30 s are over"));
    await expect(injected).rejects.toMatchObject({ kind: "pending" });
    hold[Symbol.dispose]();
    await clock.until(() => hub.channel("out").arrived === 1);
    await supervisor.shutdown();
  });

  const entry: DeadLetter = {
    id: "e1",
    routeId: "r",
    bindingId: "out",
    sourceId: "in",
    correlationId: "c",
    subject: "s",
    reason: "refused",
    category: "rejected",
    errorCode: "REJECTED",
    lastError: "no",
    failedAt: 1,
    attempts: 1,
    envelope: envelopeOf({ id: "original" }),
  };

  test("a redrive is answered when its record has been delivered, and the entry is gone", async () => {
    const { hub, supervisor, dlq } = await started();
    await dlq.put(entry, bound());
    expect(await supervisor.redrive(["e1"], bound())).toEqual({ redriven: 1, failed: 0, errors: [] });
    expect(hub.channel("out").arrived).toBe(1);
    expect(await dead(dlq)).toEqual([]);
    await supervisor.shutdown();
  });

  test("an inject that nobody bounds is answered at a stop, and leaves no timer behind", async () => {
    const { hub, clock, supervisor } = await started({ quiesceTimeoutMs: 1 });
    hub.channel("out").sends.failNext(Infinity, outage);
    const injected = supervisor.inject("r", message);
    injected.catch(() => {});
    await clock.until(() => (supervisor.stats().legs[0]?.attempts ?? 0) > 0);
    await supervisor.stop(bound());
    await expect(injected).rejects.toMatchObject({ name: "OperationError", kind: "pending" });
    await supervisor.shutdown();
    expect(clock.pending).toBe(0);
  });

  test("what a delete by filter takes while a redrive delivers it counts as deleted, and not as redriven too", async () => {
    const { hub, supervisor, dlq } = await started();
    await dlq.put(entry, bound());
    const hold = hub.channel("out").sends.hold();
    const redriven = supervisor.redrive(["e1"], bound());
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    expect(await dlq.admin?.deleteWhere({ routeId: "r" }, undefined, bound())).toBe(1);
    hold[Symbol.dispose]();
    const errors = [{ id: "e1", error: "entry already redriven or concurrently deleted" }];
    expect(await redriven).toEqual({ redriven: 0, failed: 1, errors });
    expect(supervisor.stats().legs[0]?.dispositions.delivered).toBe(1);
    await supervisor.shutdown();
  });

  test("what a redrive deletes counts as redriven also when its record is sent a second time", async () => {
    const inner = openMemoryDlq({ maxEntries: 10 });
    const deleted: string[] = [];
    let lost = 0;
    const bridge = await started({
      dlq: {
        ...inner,
        admin: {
          deleteWhere: () => Promise.reject(new Error("nobody asks for that")),
          delete: async (ids, signal) => {
            deleted.push(...ids);
            return (await inner.admin?.delete(ids, signal)) ?? new Set();
          },
        },
      },
      outbox: outboxWith((store) => ({
        // The end of the first send gets lost with its loan, so that the record is handed out again.
        finish: async (ends, signal) => {
          if (ends.every(({ outcome }) => outcome.kind !== "done") || lost++ > 0) return store.finish(ends, signal);
          await store.finish(
            ends.map((end) => ({ ...end, outcome: { kind: "retry", delayMs: 0, attempts: 1 } })),
            signal,
          );
          return ends.map(() => false);
        },
      })),
    });
    await inner.put(entry, bound());
    const redriven = answered(bridge, bridge.supervisor.redrive(["e1"], bound()));
    expect(await redriven).toEqual({ redriven: 1, failed: 0, errors: [] });
    expect(bridge.hub.channel("out").arrived).toBe(2);
    expect(deleted.length).toBeGreaterThan(1);
    await bridge.supervisor.shutdown();
  });

  test("an entry that was redriven and cannot be deleted is told of, because redriving it again would repeat it", async () => {
    const inner = openMemoryDlq({ maxEntries: 10 });
    const refuse = () => Promise.reject(new BridgeError("UNAVAILABLE", "disk full"));
    const dlq: DlqStore = { ...inner, ...(inner.admin && { admin: { ...inner.admin, delete: refuse } }) };
    const told: unknown[] = [];
    const error = (line: string, fields?: LogFields): void => {
      if (line.startsWith("redriven entry not deleted")) told.push([fields?.["entry_id"], fields?.["error"]]);
    };
    const logger = { ...silentLogger, error, child: () => logger };
    const { hub, clock, supervisor } = await started({ dlq, logger });
    await inner.put(entry, bound());
    const hold = hub.channel("out").sends.hold();
    const stop = new AbortController();
    const redriven = supervisor.redrive(["e1"], stop.signal);
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    stop.abort(new Error("60 s are over"));
    await redriven;
    hold[Symbol.dispose]();
    await clock.until(() => supervisor.stats().legs[0]?.dispositions.delivered === 1);
    expect(told).toEqual([["e1", "disk full"]]);
    await supervisor.shutdown();
  });

  test("still pending at the bound: the drain deletes the entry when it delivers, and until then nothing is injected again", async () => {
    const { hub, clock, supervisor, dlq } = await started();
    await dlq.put(entry, bound());
    const hold = hub.channel("out").sends.hold();
    const stop = new AbortController();
    const redriven = supervisor.redrive(["e1"], stop.signal);
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    stop.abort(new Error("60 s are over"));
    const pending = { redriven: 0, failed: 1, errors: [{ id: "e1", error: "redrive still pending in the outbox" }] };
    expect(await redriven).toEqual(pending);
    expect(await supervisor.redrive(["e1"], bound())).toEqual(pending);
    expect(await dead(dlq)).toHaveLength(1);
    hold[Symbol.dispose]();
    await clock.until(() => hub.channel("out").arrived === 1);
    await turn();
    expect(await dead(dlq)).toEqual([]);
    expect(hub.channel("out").arrived).toBe(1);
    await supervisor.shutdown();
  });

  const unbound: DeadLetter = { ...entry, bindingId: "" };
  const fanOut = { dispatchMode: "fan_out", bindings: ["out", "out2"] } as const;

  test("finding 7.1: of a fan_out too: pending it is injected once, and the last drain deletes the entry", async () => {
    const { hub, clock, supervisor, dlq } = await started(fanOut);
    await dlq.put(unbound, bound());
    const hold = hub.channel("out2").sends.hold();
    const stop = new AbortController();
    const redriven = supervisor.redrive(["e1"], stop.signal);
    await hub.channel("out2").until((channel) => channel.sends.held === 1, bound());
    await clock.until(() => hub.channel("out").arrived === 1);
    stop.abort(new Error("60 s are over"));
    const pending = { redriven: 0, failed: 1, errors: [{ id: "e1", error: "redrive still pending in the outbox" }] };
    expect(await redriven).toEqual(pending);
    expect(await supervisor.redrive(["e1"], bound())).toEqual(pending);
    expect(await dead(dlq)).toHaveLength(1);
    hold[Symbol.dispose]();
    await clock.until(() => hub.channel("out2").arrived === 1);
    await clock.until(() => supervisor.stats().legs.every((leg) => leg.inOutbox === 0));
    expect(await dead(dlq)).toEqual([]);
    expect(hub.channel("out").arrived).toBe(1);
    await supervisor.shutdown();
  });

  test("finding 7.1: of a fan_out of which all legs are delivered, at the same time, the entry is gone", async () => {
    const { hub, supervisor, dlq } = await started(fanOut);
    await dlq.put(unbound, bound());
    expect(await supervisor.redrive(["e1"], bound())).toEqual({ redriven: 1, failed: 0, errors: [] });
    expect([hub.channel("out").arrived, hub.channel("out2").arrived]).toEqual([1, 1]);
    expect(await dead(dlq)).toEqual([]);
    await supervisor.shutdown();
  });

  test.each(["out", "out2"])("finding 7.1: of a fan_out of which %s has failed the entry stays", async (failing) => {
    const { hub, clock, supervisor, dlq } = await started(fanOut);
    await dlq.put(unbound, bound());
    hub.channel(failing).sends.failNext(1, refusal);
    const stop = new AbortController();
    const hold = hub.channel("out").sends.hold();
    const redriven = supervisor.redrive(["e1"], stop.signal);
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    stop.abort(new Error("60 s are over"));
    await redriven;
    hold[Symbol.dispose]();
    await clock.until(() => supervisor.stats().legs.every((leg) => leg.inOutbox === 0));
    expect((await dead(dlq)).map(({ bindingId }) => bindingId).toSorted()).toEqual(["", failing]);
    await supervisor.shutdown();
  });

  /** Nothing is ever lent to the bridge: whatever ends a record is another instance, which is the test. */
  async function drainedElsewhere(): Promise<{ bridge: MemoryBridge; end: (kind: "done" | "dead") => Promise<void> }> {
    const inner = openMemoryOutbox({
      maxRecords: 100,
      retentionMs: 3_600_000,
      clock: new FakeClock(),
      random: systemRandom(),
    });
    const bridge = await started({ outbox: { ...inner, shared: true, claim: () => Promise.resolve([]) } });
    return {
      bridge,
      end: async (kind) => {
        const request = { routeId: "r", bindingId: "out", limit: 1, loanMs: 10_000 };
        await bridge.clock.until(() => bridge.supervisor.stats().legs[0]?.inOutbox === 1);
        const claims = await inner.claim(request, bound());
        await inner.finish(
          claims.map(({ record, token }) => ({ id: record.id, token, outcome: { kind } })),
          bound(),
        );
      },
    };
  }

  async function answered<T>({ clock }: MemoryBridge, answer: Promise<T>): Promise<T> {
    let done = false;
    void answer.finally(() => (done = true)).catch(() => {});
    await clock.until(() => done);
    return answer;
  }

  test("finding 7.2: what another instance has dropped is answered as dropped", async () => {
    const { bridge, end } = await drainedElsewhere();
    const injected = bridge.supervisor.inject("r", { ...message, id: "m1" }, { signal: bound() });
    await end("dead");
    expect(await answered(bridge, injected)).toMatchObject({ outcome: "dropped" });
    await bridge.supervisor.shutdown();
  });

  test("finding 7.2: what another instance has dead-lettered is answered as its entry says", async () => {
    const { bridge, end } = await drainedElsewhere();
    const injected = bridge.supervisor.inject("r", { ...message, id: "m1" }, { signal: bound() });
    const { clock, dlq } = bridge;
    const received = envelopeOf({ ...message, id: "m1", sourceId: "inject" });
    await dlq.put(
      deadLetterOf({ received, routeId: "r", bindingId: "out", attempts: 1, failedAt: clock.now() }, refusal),
      bound(),
    );
    await end("dead");
    const error = { code: "REJECTED", message: refusal.message };
    expect(await answered(bridge, injected)).toMatchObject({ outcome: "dead_lettered", error });
    await bridge.supervisor.shutdown();
  });

  test("finding 7.2: an entry that another instance has redriven and not deleted is deleted", async () => {
    const { bridge, end } = await drainedElsewhere();
    await bridge.dlq.put(entry, bound());
    const redriven = bridge.supervisor.redrive(["e1"], bound());
    await end("done");
    expect(await answered(bridge, redriven)).toEqual({ redriven: 1, failed: 0, errors: [] });
    expect(await dead(bridge.dlq)).toEqual([]);
    await bridge.supervisor.shutdown();
  });

  test("a redrive that fails again keeps the entry and writes a new one", async () => {
    const { hub, supervisor, dlq } = await started();
    await dlq.put(entry, bound());
    hub.channel("out").sends.failNext(1, refusal);
    expect((await supervisor.redrive(["e1"], bound())).errors).toMatchObject([
      { id: "e1", error: "not delivered, dead_lettered: the target refused the message" },
    ]);
    expect(await dead(dlq)).toHaveLength(2);
    await supervisor.shutdown();
  });
});

describe("moving records to the DLQ by hand", () => {
  test("a stuck head of a key goes to the DLQ, and the others of the key go on", async () => {
    const told: unknown[] = [];
    const bridge = await started({ hooks: { onDeadLetter: ({ lastError }) => void told.push(lastError) } });
    const { hub, clock, supervisor, dlq } = bridge;
    hub.channel("out").sends.failNext(Infinity, outage);
    for (const id of ["k1", "k2"]) hub.publish("in", { id, orderingKey: "k" });
    await clock.until(() => (supervisor.stats().legs[0]?.attempts ?? 0) > 0);
    const [head] = await bridge.outbox.list({}, { limit: 1, offset: 0 }, bound());
    expect(await supervisor.deadLetterRecords([head?.id ?? "", "unknown"], bound())).toEqual({
      moved: 1,
      errors: [{ id: "unknown", error: "record not pending, or being sent at the moment" }],
    });
    expect(await dead(dlq)).toMatchObject([
      { errorCode: "REJECTED", lastError: "moved from the outbox to the DLQ by an operator", envelope: { id: "k1" } },
    ]);
    hub.channel("out").sends.clear();
    await clock.until(() => hub.channel("out").arrived === 1 && told.length === 1);
    expect(told).toEqual(["moved from the outbox to the DLQ by an operator"]);
    expect(hub.channel("out").messages()[0]?.id).toBe("k2");
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  });

  test("without an outbox it is refused", async () => {
    const { supervisor } = memoryBridge();
    await supervisor.start(bound());
    await expect(supervisor.deadLetterRecords(["x"], bound())).rejects.toMatchObject({
      kind: "not_found",
      message: "no outbox store configured",
    });
    await supervisor.shutdown();
  });
});
