import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type DlqStore, type OutboxStore, systemRandom } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge, type MemoryBridgeOptions, outage, refusal } from "../support/memory-bridge.ts";

/** A bridge that counts what its outbox is asked. */
async function started(options: MemoryBridgeOptions, changes: Partial<OutboxStore> = {}) {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 100, retentionMs: 3_600_000, clock, random: systemRandom() });
  const asked = { claims: 0, statuses: 0 };
  const outbox: OutboxStore = {
    ...inner,
    ...changes,
    claim(request, signal) {
      asked.claims++;
      return inner.claim(request, signal);
    },
    status(id, signal) {
      asked.statuses++;
      return inner.status(id, signal);
    },
  };
  const budgets = { quiesceTimeoutMs: 10_000, drainTimeoutMs: 20_000 };
  const bridge = memoryBridge({ ...budgets, ...options, deliveryMode: "shared_outbox", clock, outbox });
  await bridge.supervisor.start(bound());
  return { ...bridge, asked };
}

const TWO = { dispatchMode: "fan_out", bindings: ["one", "other"] } as const;

test("a record whose loan lapses while its store takes no ends is sent again, and booked once", async () => {
  let full = true;
  const { hub, clock, supervisor, outbox } = await started({ policy: { sendTimeoutMs: 1_000 } });
  const finish = outbox.finish.bind(outbox);
  outbox.finish = async (ends, signal) => {
    if (full) throw new BridgeError("UNAVAILABLE", "no room");
    return finish(ends, signal);
  };
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("out").arrived === 2, 500, 200);
  full = false;
  await clock.advance(120_000);
  expect(supervisor.stats()).toMatchObject({ unaccounted: 0 });
  expect(supervisor.stats().legs[0]).toMatchObject({ inOutbox: 0, dispositions: { delivered: 1 } });
  await supervisor.shutdown();
});

test("a stop lets end what was lent and lends nothing more, however much room there is while it waits for others", async () => {
  const { hub, clock, supervisor, asked } = await started({ ...TWO, policy: { maxInFlight: 1 } });
  const [one, other] = TWO.bindings.map((id) => hub.channel(id).sends.hold());
  for (const id of ["m1", "m2"]) hub.publish("in", { id });
  await clock.until(
    () => hub.channel("in").accepted === 2 && TWO.bindings.every((id) => hub.channel(id).sends.held > 0),
  );
  const stopped = supervisor.stop(bound());
  asked.claims = 0;
  one?.[Symbol.dispose]();
  await clock.until(() => hub.channel("one").arrived === 1);
  await clock.advance(1_000);
  expect(asked.claims).toBe(0);
  other?.[Symbol.dispose]();
  await stopped;
  expect(supervisor.stats().legs).toMatchObject([{ inOutbox: 1 }, { inOutbox: 1 }, {}]);
  await supervisor.shutdown();
});

test("a binding whose records have ended asks its store nothing more while the stop waits for another", async () => {
  const { hub, clock, supervisor, asked } = await started(TWO, { shared: true });
  hub.channel("one").sends.failNext(1_000, outage);
  const hold = hub.channel("other").sends.hold();
  hub.publish("in", { id: "m1" });
  await clock.until(() => asked.statuses > 0, 500, 200);
  const stopped = supervisor.stop(bound());
  await clock.advance(0);
  asked.statuses = 0;
  await clock.advance(120_000);
  expect(asked.statuses).toBe(0);
  hold[Symbol.dispose]();
  await stopped;
  await supervisor.shutdown();
});

test("a stop charges nothing to a record whose dead letter is not written yet: it is due as soon as there is a next start", async () => {
  const inner = openMemoryDlq({ maxEntries: 10 });
  let asked = 0;
  const dlq: DlqStore = {
    ...inner,
    put(_entry, signal) {
      asked++;
      return orAborted(new Promise<void>(() => {}), signal);
    },
  };
  const backoff = { initialIntervalMs: 30_000, maxIntervalMs: 30_000, multiplier: 2, jitter: 0 };
  const { hub, clock, supervisor, outbox } = await started({ dlq, quiesceTimeoutMs: 1, policy: { backoff } });
  hub.channel("out").sends.failNext(1, refusal);
  hub.publish("in", { id: "m1" });
  await clock.until(() => asked === 1);
  await supervisor.stop(bound());
  const [kept] = await outbox.list({}, { limit: 1, offset: 0 }, bound());
  expect(kept).toMatchObject({ attempts: 0 });
  const before = clock.now();
  await supervisor.start(bound());
  await clock.until(() => hub.channel("out").arrived === 1);
  expect(clock.now() - before).toBeLessThan(5_000);
  await supervisor.shutdown();
});

test("a route that is paused asks its store for no records", async () => {
  const { hub, clock, supervisor, asked } = await started({});
  supervisor.pauseRoute("r");
  await clock.advance(1_000);
  asked.claims = 0;
  await clock.advance(60_000);
  expect(asked.claims).toBe(0);
  supervisor.resumeRoute("r");
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("out").arrived === 1);
  await supervisor.shutdown();
});

test("when an operator takes the first record of a key out, the next one is sent at once", async () => {
  const backoff = { initialIntervalMs: 30_000, maxIntervalMs: 30_000, multiplier: 2, jitter: 0 };
  const { hub, clock, supervisor, outbox } = await started({ policy: { backoff } });
  hub.channel("out").sends.failNext(1, outage);
  for (const id of ["m1", "m2"]) hub.publish("in", { id, orderingKey: "k" });
  await clock.until(() => supervisor.stats().legs[0]?.attempts === 1 && hub.channel("in").accepted === 2);
  await clock.advance(200);
  const [first] = await outbox.list({}, { limit: 1, offset: 0 }, bound());
  expect(await supervisor.deadLetterRecords([first?.id ?? ""], bound())).toMatchObject({ moved: 1 });
  await clock.advance(10);
  expect(hub.channel("out").arrived).toBe(1);
  await supervisor.shutdown();
});
