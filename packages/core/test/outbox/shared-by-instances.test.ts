import type { BridgeConfig } from "@bridge/config";
import { BridgeError, type DlqStore, type OutboxPlace, type OutboxStore, systemRandom } from "@bridge/ports";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { memoryHub } from "@bridge/transport-memory";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, type MemoryBridge, memoryBridge, type MemoryBridgeOptions, refusal } from "../support/memory-bridge.ts";

type Changes = (inner: OutboxStore) => Partial<OutboxStore>;

/** Two bridges on one outbox, of which the first takes the messages in. */
function pair(first: Changes, second: Changes = () => ({}), options: MemoryBridgeOptions = {}) {
  const hub = memoryHub();
  const clock = new FakeClock();
  const store = openMemoryOutbox({ maxRecords: 1_000, retentionMs: 3_600_000, clock, random: systemRandom() });
  const bridges = [first, second].map((changes, index) =>
    memoryBridge({
      ...options,
      deliveryMode: "shared_outbox",
      hub,
      clock,
      outbox: { ...store, shared: true, ...changes(store), [Symbol.asyncDispose]: async () => {} },
      config: (config) => ({
        ...config,
        receivers: config.receivers.map((receiver) => ({
          ...receiver,
          options: { ...(receiver.options as object), channel: index === 0 ? "in" : "nothing" },
        })),
      }),
    }),
  );
  const [one, other] = bridges as [MemoryBridge, MemoryBridge];
  return { hub, clock, store, one, other };
}

/** It persists and never delivers. */
const IDLE: Changes = () => ({ claim: async () => [] });

function booksOf({ supervisor }: MemoryBridge) {
  const { legs, unaccounted } = supervisor.stats();
  const leg = legs.find(({ bindingId }) => bindingId === "out");
  const { received = 0, recovered = 0, inOutbox = 0 } = leg ?? {};
  const { delivered = 0, abandoned = 0, dead_lettered = 0 } = leg?.dispositions ?? {};
  return { received, recovered, inOutbox, delivered, abandoned, dead_lettered, unaccounted };
}

const NOTHING = {
  received: 0,
  recovered: 0,
  inOutbox: 0,
  delivered: 0,
  abandoned: 0,
  dead_lettered: 0,
  unaccounted: 0,
};

test("what another instance delivers is recovered there and abandoned here, and both books balance", async () => {
  const { hub, clock, one, other } = pair(IDLE);
  await one.supervisor.start(bound());
  for (let i = 0; i < 5; i++) hub.publish("in", { id: `m${i}` });
  await hub.channel("in").waitForSettlements(5, bound());
  expect(booksOf(one)).toEqual({ ...NOTHING, received: 5, inOutbox: 5 });
  await other.supervisor.start(bound());
  expect(booksOf(other)).toEqual(NOTHING);
  await clock.advance(10_000);
  expect(hub.channel("out").arrived).toBe(5);
  expect(booksOf(other)).toEqual({ ...NOTHING, recovered: 5, delivered: 5 });
  await clock.advance(30_000);
  expect(booksOf(one)).toEqual({ ...NOTHING, received: 5, abandoned: 5 });
});

test("whoever delivers what another instance has persisted does not say that it is idle", async () => {
  const { hub, clock, one, other } = pair(IDLE, () => ({}), { policy: { sendTimeoutMs: 60_000 } });
  const progress = ({ supervisor }: MemoryBridge) => supervisor.view().routes[0]?.progress?.progress;
  hub.channel("out").sends.hold();
  await one.supervisor.start(bound());
  await other.supervisor.start(bound());
  expect(progress(other)).toBe("idle");
  hub.publish("in", { id: "m" });
  await hub.channel("in").waitForSettlements(1, bound());
  await clock.advance(15_000);
  expect([progress(one), progress(other)]).toEqual(["moving", "moving"]);
  await clock.advance(110_000);
  expect(progress(other)).toBe("stalled");
});

test("what another instance has delivered takes no room of max_outbox_depth", async () => {
  const { hub, clock, one, other } = pair(IDLE, () => ({}), { policy: { maxOutboxDepth: 3 } });
  await one.supervisor.start(bound());
  for (let i = 0; i < 9; i++) hub.publish("in", { id: `m${i}` });
  await hub.channel("in").waitForSettlements(3, bound());
  await other.supervisor.start(bound());
  for (let i = 0; i < 20; i++) await clock.advance(10_000);
  expect(hub.channel("out").arrived).toBe(9);
  expect(booksOf(one)).toEqual({ ...NOTHING, received: 9, abandoned: 9 });
});

describe("what another instance has delivered, of a route that is renamed here before that is seen,", () => {
  const renamed = ({ config }: MemoryBridge): BridgeConfig => ({
    ...config,
    configVersion: config.configVersion + 1,
    routes: config.routes.map((route) => ({ ...route, id: "renamed" })),
  });

  /** Three messages of the first, which the second has delivered; the first may have no more than three in the outbox. */
  async function delivered(status: Changes = () => ({})) {
    const made = pair(
      (store) => ({ ...IDLE(store), ...status(store) }),
      () => ({}),
      { policy: { maxOutboxDepth: 3 } },
    );
    const { hub, clock, one, other } = made;
    await one.supervisor.start(bound());
    await other.supervisor.start(bound());
    for (let nth = 0; nth < 3; nth++) hub.publish("in", { id: `m${nth}` });
    await clock.until(() => booksOf(other).delivered === 3);
    expect(booksOf(one)).toMatchObject({ received: 3, inOutbox: 3 });
    return made;
  }

  test("leaves the books here", async () => {
    const { clock, one } = await delivered();
    expect(await one.supervisor.apply(renamed(one), bound())).toBe("applied");
    expect(booksOf(one)).toMatchObject({ inOutbox: 3 });
    await clock.advance(10_000);
    expect(booksOf(one)).toEqual({ ...NOTHING, received: 3, abandoned: 3 });
    const { pending } = clock;
    await clock.advance(60_000);
    expect(clock.pending).toBe(pending);
  });

  test("leaves them once, and its room with them, when the route is back amid a look", async () => {
    let asked = 0;
    const answer = Promise.withResolvers<void>();
    const { hub, clock, one, other } = await delivered((store) => ({
      status: async (id, signal) => {
        asked++;
        await answer.promise;
        return store.status(id, signal);
      },
    }));
    await one.supervisor.apply(renamed(one), bound());
    await clock.until(() => asked === 3);
    await one.supervisor.apply(one.config, bound());
    answer.resolve();
    await clock.advance(10_000);
    expect(booksOf(one)).toEqual({ ...NOTHING, received: 3, abandoned: 3 });
    for (let nth = 3; nth < 6; nth++) hub.publish("in", { id: `m${nth}` });
    await clock.until(() => booksOf(other).delivered === 6);
  });
});

test("what an instance finds of its former process, or of others, is not in its books before it ends there", async () => {
  const { hub, one, other } = pair(IDLE, IDLE);
  await one.supervisor.start(bound());
  hub.publish("in", { id: "m" });
  await hub.channel("in").waitForSettlements(1, bound());
  await one.supervisor.shutdown();
  await other.supervisor.start(bound());
  expect(booksOf(other)).toEqual(NOTHING);
  await other.supervisor.stop(bound());
  await other.supervisor.start(bound());
  expect(booksOf(other)).toEqual(NOTHING);
});

test("a stop and a start change nothing in the books of what one has persisted, nor in its room", async () => {
  const { hub, clock, one } = pair(IDLE, IDLE, { policy: { maxOutboxDepth: 2 } });
  await one.supervisor.start(bound());
  for (let i = 0; i < 2; i++) hub.publish("in", { id: `m${i}` });
  await hub.channel("in").waitForSettlements(2, bound());
  await one.supervisor.stop(bound());
  await one.supervisor.start(bound());
  hub.publish("in", { id: "waits" });
  await clock.advance(1_000);
  expect(booksOf(one)).toMatchObject({ inOutbox: 2, unaccounted: 0 });
  expect(hub.channel("in").unsettled).toBe(1);
});

test("a record of another instance that an operator moves to the DLQ is recovered and dead-lettered here", async () => {
  const { hub, clock, store, one, other } = pair(IDLE, IDLE);
  await one.supervisor.start(bound());
  await other.supervisor.start(bound());
  hub.publish("in", { id: "m" });
  await hub.channel("in").waitForSettlements(1, bound());
  const [head] = await store.list({}, { limit: 1, offset: 0 }, bound());
  await expect(other.supervisor.deadLetterRecords([head?.id ?? ""], bound())).resolves.toMatchObject({ moved: 1 });
  expect(await store.status(head?.id ?? "", bound())).toBe("dead");
  expect(booksOf(other)).toEqual({ ...NOTHING, recovered: 1, dead_lettered: 1 });
  await clock.advance(60_000);
  expect(booksOf(one)).toEqual({ ...NOTHING, received: 1, abandoned: 1 });
});

test("what the store will never take goes by the policy, and what came in with it is persisted", async () => {
  const tooLarge = new BridgeError("PAYLOAD_TOO_LARGE", "too large for this store");
  const { hub, one } = pair((inner) => ({
    async persist(records, signal) {
      const taken = await inner.persist(
        records.filter(({ envelope }) => envelope.id !== "large"),
        signal,
      );
      const left = [...taken];
      return records.map(({ envelope }) =>
        envelope.id === "large" ? { kind: "refused", error: tooLarge } : (left.shift() ?? { kind: "conflict" }),
      );
    },
  }));
  await one.supervisor.start(bound());
  for (const id of ["a", "large", "b"]) hub.publish("in", { id });
  const settled = await hub.channel("in").waitForSettlements(3, bound());
  expect(settled.map(({ settlement }) => settlement)).toEqual(
    expect.arrayContaining([
      { kind: "accept", outcome: "persisted", envelopeId: "a" },
      { kind: "accept", outcome: "dead_lettered", envelopeId: "large" },
      { kind: "accept", outcome: "persisted", envelopeId: "b" },
    ]),
  );
  const [entry] = await one.dlq.list({}, { limit: 9, offset: 0 }, bound());
  expect(entry).toMatchObject({ errorCode: "PAYLOAD_TOO_LARGE", category: "rejected", bindingId: "out" });
  expect(booksOf(one)).toMatchObject({ received: 3, dead_lettered: 1, unaccounted: 0 });
});

test("what another instance has persisted is delivered as soon as the store says so, without waiting for the next look", async () => {
  const arrivals = new Set<() => void>();
  const places: OutboxPlace[] = [];
  const hears: Changes = () => ({
    onArrival(place, arrived) {
      places.push(place);
      arrivals.add(arrived);
      return { [Symbol.dispose]: () => void arrivals.delete(arrived) };
    },
  });
  const { hub, one, other } = pair(IDLE, hears);
  await other.supervisor.start(bound());
  await one.supervisor.start(bound());
  expect(places).toEqual([{ routeId: "r", bindingId: "out" }]);
  hub.publish("in", { id: "m" });
  await hub.channel("in").waitForSettlements(1, bound());
  expect(hub.channel("out").arrived).toBe(0);
  for (const arrived of arrivals) arrived();
  await hub.channel("out").waitForMessages(1, bound());
  await other.supervisor.shutdown();
  expect(arrivals.size).toBe(0);
});

test("an instance whose dead letter could not be written is full again when another one has written it", async () => {
  const inner = openMemoryDlq({ maxEntries: 10 });
  let down = true;
  const dlq: DlqStore = {
    ...inner,
    put: async (entry, signal) => {
      if (down) throw new BridgeError("UNAVAILABLE", "disk full");
      await inner.put(entry, signal);
    },
  };
  let idle = false;
  const until: Changes = (store) => ({
    claim: async (request, signal) => (idle ? [] : store.claim(request, signal)),
  });
  const { hub, clock, one, other } = pair(until, () => ({}), { dlq });
  hub.channel("out").sends.failNext(Infinity, refusal);
  await one.supervisor.start(bound());
  hub.publish("in", { id: "m1" });
  await clock.until(() => (one.supervisor.stats().routes[0]?.dlqWriteFailures ?? 0) > 0);
  expect(one.supervisor.view().level).toBe("subscribed");
  idle = true;
  down = false;
  await other.supervisor.start(bound());
  await clock.until(() => booksOf(other).dead_lettered === 1);
  // By the next look, and not when its time is over.
  const soon = clock.monotonic() + 2_000;
  await clock.until(() => one.supervisor.view().level === "full");
  expect(clock.monotonic()).toBeLessThan(soon);
  await clock.until(() => booksOf(one).abandoned === 1);
  expect(booksOf(one)).toMatchObject({ inOutbox: 0, unaccounted: 0 });
});

test("a record of another instance that an operator moves to the DLQ gives no room of max_outbox_depth here", async () => {
  const { hub, clock, store, one, other } = pair(IDLE, IDLE, { policy: { maxOutboxDepth: 1 } });
  await one.supervisor.start(bound());
  await other.supervisor.start(bound());
  hub.publish("in", { id: "m" });
  await hub.channel("in").waitForSettlements(1, bound());
  const [head] = await store.list({}, { limit: 1, offset: 0 }, bound());
  await expect(other.supervisor.deadLetterRecords([head?.id ?? ""], bound())).resolves.toMatchObject({ moved: 1 });
  for (const id of ["a", "b"]) hub.publish("nothing", { id });
  await clock.advance(1_000);
  expect(booksOf(other)).toMatchObject({ inOutbox: 1 });
});

test("an end that is refused when it is repeated may be another instance's: it is in their books, and abandoned here", async () => {
  let lost = 1;
  const { hub, clock, one } = pair((inner) => ({
    async finish(ends, signal) {
      const results = await inner.finish(ends, signal);
      if (lost-- > 0) throw new BridgeError("TIMEOUT", "no answer");
      return results;
    },
  }));
  await one.supervisor.start(bound());
  hub.publish("in", { id: "m" });
  await clock.until(() => booksOf(one).inOutbox === 0 && booksOf(one).received === 1 && lost < 0, 500, 500);
  expect(booksOf(one)).toEqual({ ...NOTHING, received: 1, abandoned: 1 });
});

test("a dead letter that another instance writes after all is nobody's obstacle any more, and one that is refused still is", async () => {
  const state = { down: true, most: 1 };
  const inner = openMemoryDlq({ maxEntries: 100 });
  const dlq: DlqStore = {
    ...inner,
    async put(entry, signal) {
      if (state.down) throw new BridgeError("UNAVAILABLE", "the server is away");
      if (entry.envelope.id.length > state.most) throw new BridgeError("PAYLOAD_TOO_LARGE", "too large for this store");
      return inner.put(entry, signal);
    },
  };
  const turn = { of: "one" };
  const claims =
    (name: string): Changes =>
    (store) => ({ claim: async (request, signal) => (turn.of === name ? store.claim(request, signal) : []) });
  const { hub, clock, one, other } = pair(claims("one"), claims("other"), { dlq });
  const reasonOf = ({ supervisor }: MemoryBridge) => supervisor.view().routes[0]?.progress?.reason ?? "";
  const isFull = ({ supervisor }: MemoryBridge) => supervisor.view().level === "full";
  await one.supervisor.start(bound());
  await other.supervisor.start(bound());
  hub.channel("out").sends.failNext(Infinity, refusal);
  hub.publish("in", { id: "m" });
  hub.publish("in", { id: "large" });
  await clock.until(() => reasonOf(one).includes("the server is away"));
  turn.of = "other";
  state.down = false;
  await clock.until(() => reasonOf(other).includes("too large"), 100, 400);
  expect(await inner.count(10, bound())).toBe(1);
  // The one that was written does not speak for the one that was not.
  await clock.advance(2_000);
  expect([isFull(one), isFull(other)]).toEqual([false, false]);
  const before = clock.monotonic();
  state.most = Infinity;
  await clock.until(() => isFull(one) && isFull(other), 100, 400);
  // By the next try of the other one, and a look.
  expect(clock.monotonic() - before).toBeLessThan(35_000);
  expect(await inner.count(10, bound())).toBe(2);
});

test("an instance that could not enter how records ended is full again when another one has them", async () => {
  const state = { down: true };
  const { hub, clock, one, other } = pair((store) => ({
    claim: async (request, signal) => (state.down ? store.claim(request, signal) : []),
    finish: () => Promise.reject(new BridgeError("UNAVAILABLE", "disk full")),
  }));
  await one.supervisor.start(bound());
  hub.publish("in", { id: "m" });
  await clock.until(() => one.supervisor.view().level === "subscribed");
  state.down = false;
  await other.supervisor.start(bound());
  await clock.until(() => booksOf(other).delivered === 1, 1_000, 400);
  await clock.until(() => booksOf(one).abandoned === 1, 1_000, 400);
  expect(one.supervisor.view().level).toBe("full");
});
