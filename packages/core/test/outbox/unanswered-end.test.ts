import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type OutboxStore, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge, outage } from "../support/memory-bridge.ts";

/** An outbox that enters how records end, and does not say so. */
async function mute(changes: Pick<OutboxStore, "shared"> = {}) {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 100, retentionMs: 3_600_000, clock, random: systemRandom() });
  let answering = false;
  let entering = true;
  const outbox: OutboxStore = {
    ...inner,
    ...changes,
    async finish(ends, signal) {
      const retries = ends.every(({ outcome }) => outcome.kind === "retry");
      if (answering || retries) return inner.finish(ends, signal);
      if (entering) await inner.finish(ends, signal);
      entering = false;
      throw new BridgeError("TIMEOUT", "no answer");
    },
  };
  const bridge = memoryBridge({
    deliveryMode: "shared_outbox",
    clock,
    outbox,
    dlq: openMemoryDlq({ maxEntries: 10 }),
    policy: {
      maxOutboxDepth: 1,
      backoff: { initialIntervalMs: 60_000, maxIntervalMs: 60_000, multiplier: 1, jitter: 0 },
    },
  });
  await bridge.supervisor.start(bound());
  const leg = () => {
    const { attempts, inOutbox, inFlight, dispositions } = bridge.supervisor.stats().legs[0] ?? {};
    const { delivered, dead_lettered } = dispositions ?? {};
    return { attempts, inOutbox, inFlight, delivered, dead_lettered };
  };
  return { ...bridge, clock, inner, leg, answer: () => void (answering = true) };
}

test.each([
  ["that does not say whether it is shared", {}],
  ["that says it is not shared", { shared: false }],
])(
  "a record that was moved to the DLQ, of which an outbox %s has not said so, leaves the books and makes room",
  async (_, changes) => {
    const { hub, clock, supervisor, inner, leg, answer } = await mute(changes);
    hub.channel("out").sends.failNext(1, outage);
    hub.publish("in", { id: "m1" });
    await clock.until(() => leg().attempts === 1);
    await clock.advance(10);
    const [head] = await inner.list({}, { limit: 1, offset: 0 }, bound());
    await expect(supervisor.deadLetterRecords([head?.id ?? ""], bound())).resolves.toMatchObject({ moved: 0 });
    answer();
    hub.publish("in", { id: "m2" });
    await clock.until(() => hub.channel("out").arrived === 1, 500, 200);
    await clock.until(() => leg().delivered === 1);
    expect(leg()).toMatchObject({ inOutbox: 0, inFlight: 0, delivered: 1, dead_lettered: 1 });
    expect(supervisor.stats().unaccounted).toBe(0);
    await supervisor.shutdown();
  },
);

test("a record that was delivered, of which the outbox said nothing while it was asked, leaves the books and makes room", async () => {
  const { hub, clock, supervisor, leg, answer } = await mute();
  hub.publish("in", { id: "m1" });
  await clock.until(() => (supervisor.stats().routes[0]?.outboxWriteFailures ?? 0) > 0);
  for (let second = 0; second < 90; second++) await clock.advance(1_000);
  answer();
  hub.publish("in", { id: "m2" });
  await clock.until(() => hub.channel("out").arrived === 2, 500, 400);
  await clock.until(() => leg().delivered === 2);
  expect(leg()).toMatchObject({ inOutbox: 0, inFlight: 0, delivered: 2, dead_lettered: 0 });
  expect(supervisor.stats().unaccounted).toBe(0);
  await supervisor.shutdown();
});
