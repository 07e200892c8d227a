import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type OutboxStore, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

/** A bridge whose outbox has what is written at once, and says so only when it is told to. */
async function unanswered({ shared = false, maxRecords = 100 } = {}) {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords, retentionMs: 3_600_000, clock, random: systemRandom() });
  const answers: ((error?: BridgeError) => void)[] = [];
  const outbox: OutboxStore = {
    ...inner,
    shared,
    async persist(records, signal) {
      const results = await inner.persist(records, signal);
      return new Promise((resolve, reject) =>
        answers.push((error) => (error === undefined ? resolve(results) : reject(error))),
      );
    },
  };
  const backoff = { initialIntervalMs: 1_000, maxIntervalMs: 1_000, multiplier: 1, jitter: 0 };
  const { hub, supervisor } = memoryBridge({ deliveryMode: "shared_outbox", clock, outbox, policy: { backoff } });
  await supervisor.start(bound());
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("out").arrived === 1);
  const books = () => {
    const { legs, unaccounted } = supervisor.stats();
    const { received, recovered, inFlight, inOutbox, dispositions } = legs[0] ?? {};
    return { received, recovered, inFlight, inOutbox, delivered: dispositions?.delivered, unaccounted };
  };
  return { clock, hub, supervisor, answers, books };
}

const ONCE = { received: 1, recovered: 0, inFlight: 0, inOutbox: 0, delivered: 1, unaccounted: 0 };

test.each([false, true])(
  "a record that is delivered before its write is answered is in the books once, then and after the answer (shared: %s)",
  async (shared) => {
    const { clock, hub, supervisor, answers, books } = await unanswered({ shared });
    await clock.until(() => books().delivered === 1);
    expect(books()).toEqual(ONCE);
    answers.shift()?.();
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(books()).toEqual(ONCE);
    await supervisor.shutdown();
  },
);

test("a record that is delivered before its write fails is in the books once, however the next try ends", async () => {
  const { clock, hub, supervisor, answers, books } = await unanswered();
  await clock.until(() => books().delivered === 1);
  answers.shift()?.(new BridgeError("TIMEOUT", "no answer"));
  await clock.until(() => answers.length === 1);
  expect(books()).toEqual(ONCE);
  answers.shift()?.();
  await clock.until(() => hub.channel("in").accepted === 1);
  expect(books()).toEqual(ONCE);
  await supervisor.shutdown();
});

test("a record that is delivered before its write fails, and whose message is given up then, is in the books once", async () => {
  const { clock, supervisor, answers, books } = await unanswered();
  await clock.until(() => books().delivered === 1);
  answers.shift()?.(new BridgeError("TIMEOUT", "no answer"));
  const stopping = supervisor.stop(bound());
  let stopped = false;
  void stopping.then(() => (stopped = true));
  // Turns of the event loop are counted nowhere: a part of the stop takes real time.
  await clock.until(() => stopped, 1_000, Infinity);
  expect(books()).toEqual(ONCE);
  await supervisor.shutdown();
});

test("a record that its store has forgotten before the next try is in the books for each time that it was there", async () => {
  const { clock, hub, supervisor, answers, books } = await unanswered({ maxRecords: 1 });
  await clock.until(() => books().delivered === 1);
  hub.publish("in", { id: "m2" });
  await clock.until(() => hub.channel("out").arrived === 2 && books().delivered === 2);
  answers.shift()?.(new BridgeError("TIMEOUT", "no answer"));
  answers.shift()?.();
  await clock.until(() => hub.channel("out").arrived === 3 && books().delivered === 3);
  expect(books()).toMatchObject({ inFlight: 0, unaccounted: 0 });
  expect(books().inOutbox).toBeGreaterThanOrEqual(0);
  answers.shift()?.();
  await clock.until(() => hub.channel("in").accepted === 2);
  expect(books()).toEqual({ received: 2, recovered: 1, inFlight: 0, inOutbox: 0, delivered: 3, unaccounted: 0 });
  await supervisor.shutdown();
});
