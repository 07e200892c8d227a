import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type ClaimRequest, type OutboxStore, systemRandom } from "@bridge/ports";
import { afterEach, expect, test, vi } from "vitest";
import { BoundingClock } from "../support/bounding-clock.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge, type MemoryBridgeOptions, outage } from "../support/memory-bridge.ts";

afterEach(() => void vi.useRealTimers());

/** A bridge that tells what its drain asked for, and when, of a store that can be away or give no answer. */
async function drained(options: MemoryBridgeOptions = {}) {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 1_000, retentionMs: 3_600_000, clock, random: systemRandom() });
  const asked: (ClaimRequest & { readonly at: number; readonly signal: AbortSignal })[] = [];
  const store = { manner: "well" as "well" | "refuses" | "hangs" };
  const outbox: OutboxStore = {
    ...inner,
    async claim(request, signal) {
      asked.push({ ...request, at: clock.monotonic(), signal });
      if (store.manner === "hangs") await new Promise(() => {});
      if (store.manner === "refuses") throw new BridgeError("UNAVAILABLE", "away");
      return inner.claim(request, signal);
    },
  };
  const bridge = memoryBridge({ ...options, deliveryMode: "shared_outbox", clock, outbox });
  await bridge.supervisor.start(bound());
  await clock.until(() => asked.length > 0);
  return { ...bridge, asked, store };
}

test("a record is tried again when its backoff is over, not at the next look of a drain that has nothing to do", async () => {
  const backoff = { initialIntervalMs: 1_300, maxIntervalMs: 30_000, multiplier: 2, jitter: 0 };
  const { hub, clock, supervisor } = await drained({ policy: { backoff } });
  hub.channel("out").sends.failNext(1, outage);
  hub.publish("in", { id: "m1" });
  await clock.until(() => supervisor.stats().legs[0]?.attempts === 1);
  const failedAt = clock.monotonic();
  await clock.until(() => hub.channel("out").arrived === 1);
  expect(clock.monotonic() - failedAt).toBeLessThanOrEqual(1_300 + 150);
  await supervisor.shutdown();
});

test("a store that was back in between is asked again as soon as the first time", async () => {
  const { clock, supervisor, asked, store } = await drained();
  store.manner = "refuses";
  await clock.advance(200_000);
  store.manner = "well";
  await clock.until(() => supervisor.view().level === "full", 100);
  store.manner = "refuses";
  asked.length = 0;
  const backAt = clock.monotonic();
  await clock.until(() => asked.length >= 3, 100);
  expect(clock.monotonic() - backAt).toBeLessThanOrEqual(5_000);
  await supervisor.shutdown();
});

test("a loan lasts until a send that begins at the end of its batch has ended, and that has been entered", async () => {
  const { supervisor, asked } = await drained({ policy: { maxInFlight: 1, sendTimeoutMs: 60_000 } });
  const [batchMs, enterMs] = [60_000, 10_000];
  expect(asked[0]?.loanMs).toBeGreaterThanOrEqual(batchMs + 60_000 + enterMs);
  await supervisor.shutdown();
});

test("no more is lent than a rate limit lets through in a second: the rest would be on loan for nothing", async () => {
  const { hub, clock, supervisor, asked } = await drained({
    config: (config) => ({
      ...config,
      senders: config.senders.map((sender) => ({ ...sender, rateLimit: { messagesPerSecond: 5, burst: 1 } })),
    }),
  });
  for (let at = 0; at < 30; at++) hub.publish("in", { id: `m${at}` });
  await clock.until(() => hub.channel("out").arrived === 30);
  expect(Math.max(...asked.map(({ limit }) => limit))).toBeLessThanOrEqual(6);
  await supervisor.shutdown();
});

test("a stop does not wait for a store that does not answer, and tells it", async () => {
  const { clock, supervisor, asked, store } = await drained();
  store.manner = "hangs";
  const before = asked.length;
  await clock.until(() => asked.length > before);
  await supervisor.shutdown();
  expect(asked.at(-1)?.signal.aborted).toBe(true);
});

test("a store that does not answer within 30 s has failed: it is told so, and asked again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { clock, supervisor, asked, store } = await drained();
  store.manner = "hangs";
  const before = asked.length;
  await clock.until(() => asked.length > before);
  const silent = asked.at(-1);
  await vi.advanceTimersByTimeAsync(29_000);
  expect([silent?.signal.aborted, supervisor.view().level]).toEqual([false, "full"]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(silent?.signal.aborted).toBe(true);
  store.manner = "well";
  await clock.until(() => asked.at(-1) !== silent && supervisor.view().level === "full");
  await supervisor.shutdown();
});

test("when an operator has taken away what waited for a retry, the store is asked as seldom as before", async () => {
  const backoff = { initialIntervalMs: 30_000, maxIntervalMs: 30_000, multiplier: 2, jitter: 0 };
  const { hub, clock, supervisor, outbox, asked } = await drained({ policy: { backoff } });
  hub.channel("out").sends.failNext(1, outage);
  hub.publish("in", { id: "m1" });
  await clock.until(() => supervisor.stats().legs[0]?.attempts === 1);
  await clock.advance(500);
  const [head] = await outbox.list({}, { limit: 1, offset: 0 }, bound());
  await expect(supervisor.deadLetterRecords([head?.id ?? ""], bound())).resolves.toMatchObject({ moved: 1 });
  await clock.advance(20);
  asked.length = 0;
  await clock.advance(4_500);
  expect(asked.length).toBeLessThanOrEqual(5);
  await supervisor.shutdown();
});

test("while sends that were given up do not end, nothing is lent for their target", async () => {
  let given = 0;
  const ends: (() => void)[] = [];
  const { hub, clock, supervisor, asked } = await drained({
    policy: { sendTimeoutMs: 100, maxReplayAttempts: 1_000 },
    transports: (memory) => [
      {
        ...memory,
        type: "deaf",
        sender: {
          ...memory.sender,
          create: () => ({
            async send() {
              given++;
              await new Promise<void>((resolve) => ends.push(resolve));
            },
            [Symbol.asyncDispose]: () => Promise.resolve(),
          }),
        },
      },
    ],
    config: (config) => ({ ...config, senders: config.senders.map((sender) => ({ ...sender, transport: "deaf" })) }),
  });
  for (let at = 0; at < 120; at++) hub.publish("in", { id: `m${at}` });
  await clock.until(() => given >= 100);
  await clock.advance(1_000);
  asked.length = 0;
  await clock.advance(10_000);
  expect([given, asked.length]).toEqual([100, 0]);
  for (const end of ends) end();
  await clock.until(() => given > 100);
  await supervisor.shutdown();
});

test.each([
  [2, "3s", 60],
  [0.05, "1s", 5],
])(
  "a backlog is delivered at the limit of %d messages a second, although none of it could wait for its turn as long as a batch of %s may take",
  async (messagesPerSecond, _, backlog) => {
    const { hub, clock, supervisor, asked } = await drained({
      policy: { maxInFlight: 100, sendTimeoutMs: 1_000 },
      config: (config) => ({
        ...config,
        senders: config.senders.map((sender) => ({ ...sender, rateLimit: { messagesPerSecond, burst: 1 } })),
      }),
    });
    for (let at = 0; at < backlog; at++) hub.publish("in", { id: `m${at}` });
    await clock.until(() => supervisor.stats().legs[0]?.inOutbox === backlog - hub.channel("out").arrived);
    const began = { at: clock.monotonic(), arrived: hub.channel("out").arrived };
    const left = backlog - began.arrived;
    await clock.until(() => hub.channel("out").arrived === backlog, 250, 4 * 60 * 20);
    const neededMs = (left * 1_000) / messagesPerSecond;
    expect(clock.monotonic() - began.at).toBeLessThan(1.5 * neededMs + 2_000);
    // Whoever lies there on loan for nothing is said to be pending again and again.
    expect(asked.length).toBeLessThan(20 * backlog + neededMs / 100);
    await supervisor.shutdown();
  },
);

test("a route that always has messages waiting at the same sender leaves an outbox its turns", async () => {
  const { hub, clock, supervisor } = await drained({
    policy: { maxInFlight: 50, sendTimeoutMs: 30_000 },
    config: (config) => ({
      ...config,
      senders: config.senders.map((sender) => ({ ...sender, rateLimit: { messagesPerSecond: 10, burst: 1 } })),
      receivers: [
        ...config.receivers,
        ...config.receivers.map((one) => ({ ...one, id: "busy-in", options: { channel: "busy" } })),
      ],
      routes: [
        ...config.routes,
        ...config.routes.map((one) => ({
          ...one,
          id: "busy",
          receiverId: "busy-in",
          deliveryMode: "direct_hold" as const,
        })),
      ],
    }),
  });
  for (let at = 0; at < 2_000; at++) hub.publish("busy", { id: `b${at}` });
  await clock.advance(1_000);
  for (let at = 0; at < 5; at++) hub.publish("in", { id: `m${at}` });
  const outboxed = () => supervisor.stats().legs.find(({ routeId }) => routeId !== "busy");
  await clock.until(() => outboxed()?.dispositions.delivered === 5, 100, 600);
  expect(hub.channel("busy").accepted).toBeLessThan(2_000);
  await supervisor.shutdown();
});

test("a record whose turn by the rate limit does not come while it is lent goes back, and is sent when its turn comes", async () => {
  const clock = new BoundingClock();
  const slow = { messagesPerSecond: 0.01, burst: 1 };
  const { hub, supervisor } = memoryBridge({
    clock,
    deliveryMode: "shared_outbox",
    config: (config) => ({ ...config, senders: config.senders.map((sender) => ({ ...sender, rateLimit: slow })) }),
  });
  await supervisor.start(bound());
  for (const id of ["m1", "m2"]) hub.publish("in", { id });
  await clock.advance(95_000);
  expect([hub.channel("out").arrived, supervisor.stats().legs[0]?.attempts]).toEqual([1, 1]);
  await clock.advance(10_000);
  expect([hub.channel("out").arrived, supervisor.stats().legs[0]?.attempts]).toEqual([2, 2]);
  await supervisor.shutdown();
});
