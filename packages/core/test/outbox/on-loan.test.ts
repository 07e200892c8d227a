import { openMemoryDlq } from "@bridge/dlq-memory";
import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type DlqStore, type OutboxStore, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import {
  bound,
  type MemoryBridge,
  memoryBridge,
  type MemoryBridgeOptions,
  outage,
  refusal,
} from "../support/memory-bridge.ts";

type Changes = (inner: OutboxStore) => Partial<OutboxStore>;

async function started(changes: Changes, options: MemoryBridgeOptions = {}): Promise<MemoryBridge> {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 1_000, retentionMs: 3_600_000, clock, random: systemRandom() });
  const outbox = { ...inner, ...changes(inner) };
  const bridge = memoryBridge({ ...options, deliveryMode: "shared_outbox", clock, outbox });
  await bridge.supervisor.start(bound());
  return bridge;
}

test("in an outbox that is shared, what we have on loan is ours to end, however late the store says that it has ended", async () => {
  const answer = Promise.withResolvers<void>();
  const { hub, clock, supervisor } = await started((inner) => ({
    shared: true,
    async finish(ends, signal) {
      const results = await inner.finish(ends, signal);
      await answer.promise;
      return results;
    },
  }));
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("out").arrived === 1);
  await clock.advance(60_000);
  answer.resolve();
  await clock.until(() => supervisor.stats().legs[0]?.inOutbox === 0);
  const [leg] = supervisor.stats().legs;
  expect(leg).toMatchObject({ received: 1, recovered: 0, dispositions: { delivered: 1, abandoned: 0 } });
  await supervisor.shutdown();
});

test("what the store lent so long ago that the loan is over is not sent before it is lent again", async () => {
  const answer = Promise.withResolvers<void>();
  const lent: number[] = [];
  const { hub, clock, supervisor } = await started((inner) => ({
    async claim(request, signal) {
      const claims = await inner.claim(request, signal);
      if (claims.length > 0 && lent.push(request.loanMs) === 1) await answer.promise;
      return claims;
    },
  }));
  hub.publish("in", { id: "m1" });
  await clock.until(() => lent.length === 1);
  await clock.advance((lent[0] ?? 0) + 1);
  answer.resolve();
  await clock.until(() => hub.channel("out").arrived > 0);
  expect(lent).toHaveLength(2);
  await clock.until(() => supervisor.stats().legs[0]?.inOutbox === 0);
  expect(hub.channel("out").arrived).toBe(1);
  await supervisor.shutdown();
});

test("in an outbox that is shared, what we gave back and another has ended since leaves our books", async () => {
  const ended = new Set<string>();
  const { hub, clock, supervisor } = await started(
    (inner) => ({
      shared: true,
      status: async (id, signal) => (ended.has(id) ? "done" : inner.status(id, signal)),
      async claim(request, signal) {
        return ended.size > 0 ? [] : inner.claim(request, signal);
      },
      async finish(ends, signal) {
        for (const { id } of ends) ended.add(id);
        return inner.finish(ends, signal);
      },
    }),
    { policy: { maxOutboxDepth: 1 } },
  );
  hub.channel("out").sends.failNext(1, outage);
  hub.publish("in", { id: "m1" });
  await clock.until(() => supervisor.stats().legs[0]?.dispositions.abandoned === 1, 500, 200);
  expect(supervisor.view().level).toBe("full");
  await supervisor.shutdown();
});

test("of a key of which several were lent together, none is sent while one before it waits for a retry", async () => {
  const lent: number[] = [];
  const { hub, clock, supervisor } = await started((inner) => ({
    async claim(request, signal) {
      const claims = await inner.claim(request, signal);
      if (claims.length > 0) lent.push(claims.length);
      return claims;
    },
  }));
  hub.channel("out").sends.failNext(1, outage);
  for (const id of ["m1", "m2", "m3"]) hub.publish("in", { id, orderingKey: "k" });
  await clock.until(() => supervisor.stats().legs[0]?.dispositions.delivered === 3, 100, 2_000);
  expect(
    hub
      .channel("out")
      .messages()
      .map(({ id }) => id),
  ).toEqual(["m1", "m2", "m3"]);
  expect(lent.some((count) => count > 1)).toBe(true);
  await supervisor.shutdown();
});

test("when what waited for a retry has been delivered, the store is asked as seldom as before", async () => {
  let asked = 0;
  const { hub, clock, supervisor } = await started((inner) => ({
    claim(request, signal) {
      asked++;
      return inner.claim(request, signal);
    },
  }));
  hub.channel("out").sends.failNext(1, outage);
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("out").arrived === 1);
  await clock.advance(20);
  asked = 0;
  await clock.advance(900);
  expect(asked).toBeLessThanOrEqual(2);
  await supervisor.shutdown();
});

test("a record whose dead letter could not be written, and that an operator has moved, keeps no route from being able", async () => {
  const inner = openMemoryDlq({ maxEntries: 10 });
  let failing = true;
  const dlq: DlqStore = {
    ...inner,
    async put(entry, signal) {
      if (failing) throw new BridgeError("UNAVAILABLE", "disk full");
      await inner.put(entry, signal);
    },
  };
  const { hub, clock, supervisor, outbox } = await started(() => ({}), { dlq });
  hub.channel("out").sends.failNext(Infinity, refusal);
  hub.publish("in", { id: "m1" });
  await clock.until(() => (supervisor.stats().routes[0]?.dlqWriteFailures ?? 0) > 0);
  expect(supervisor.view().level).toBe("subscribed");
  failing = false;
  const [head] = await outbox.list({}, { limit: 1, offset: 0 }, bound());
  await expect(supervisor.deadLetterRecords([head?.id ?? ""], bound())).resolves.toMatchObject({ moved: 1 });
  expect(supervisor.view().level).toBe("full");
  await supervisor.shutdown();
});

test("an outbox of which room is given back by what was written unheard never holds more than max_outbox_depth", async () => {
  let answering = false;
  const { hub, clock, supervisor } = await started(
    (inner) => ({
      async persist(records, signal) {
        const results = await inner.persist(records, signal);
        if (!answering) throw new BridgeError("TIMEOUT", "no answer");
        return results;
      },
    }),
    { session: true, policy: { maxOutboxDepth: 1 } },
  );
  await clock.until(() => supervisor.view().level === "full");
  hub.publish("in", { id: "m1" });
  await clock.until(() => supervisor.stats().legs[0]?.dispositions.delivered === 1);
  hub.link("s", "source").cut();
  await clock.until(() => supervisor.stats().routes[0]?.inFlight === 0);
  answering = true;
  await clock.until(() => hub.channel("in").accepted === 1);
  const hold = hub.channel("out").sends.hold();
  for (const id of ["m2", "m3", "m4"]) hub.publish("in", { id });
  await clock.advance(5_000);
  expect(supervisor.stats().legs[0]?.inOutbox).toBe(1);
  hold[Symbol.dispose]();
  await clock.until(() => hub.channel("in").accepted === 4);
  await supervisor.shutdown();
});
