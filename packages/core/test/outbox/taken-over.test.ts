import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, type OutboxStore, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge, outage } from "../support/memory-bridge.ts";

async function started(changes: (inner: OutboxStore) => Partial<OutboxStore>, more = {}) {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 100, retentionMs: 3_600_000, clock, random: systemRandom() });
  const outbox: OutboxStore = { ...inner, ...changes(inner) };
  const bridge = memoryBridge({ ...more, deliveryMode: "shared_outbox", clock, outbox });
  await bridge.supervisor.start(bound());
  return bridge;
}

test("an end that the store refuses when it is repeated, because the record is pending, is in nobody's books", async () => {
  let said = 0;
  const { hub, clock, supervisor } = await started((inner) => ({
    async finish(ends, signal) {
      // The first answer is lost before anything is written; by the second time the loan has lapsed.
      if (++said === 1) throw new BridgeError("TIMEOUT", "no answer");
      return said === 2 ? ends.map(() => false) : inner.finish(ends, signal);
    },
  }));
  hub.publish("in", { id: "m1" });
  await clock.until(() => said === 2);
  await clock.advance(0);
  expect(supervisor.stats().legs[0]).toMatchObject({ inOutbox: 1, dispositions: { delivered: 0 } });
  await clock.until(() => supervisor.stats().legs[0]?.inOutbox === 0, 1_000, 200);
  expect(supervisor.stats()).toMatchObject({ unaccounted: 0, legs: [{ dispositions: { delivered: 1 } }, {}] });
  await supervisor.shutdown();
});

test("a record that somebody else took over while an operator moved it is not moved, and the answer says where it is", async () => {
  const state = { moving: false };
  const { hub, clock, supervisor, outbox } = await started((inner) => ({
    finish: async (ends, signal) => (state.moving ? ends.map(() => false) : inner.finish(ends, signal)),
  }));
  hub.channel("out").sends.failNext(1, outage);
  hub.publish("in", { id: "m1" });
  await clock.until(() => supervisor.stats().legs[0]?.attempts === 1);
  await clock.advance(10);
  state.moving = true;
  const [head] = await outbox.list({}, { limit: 1, offset: 0 }, bound());
  const id = head?.id ?? "";
  expect(await supervisor.deadLetterRecords([id], bound())).toEqual({
    moved: 0,
    errors: [{ id, error: "the record was taken over by somebody else; it is in the DLQ too" }],
  });
  expect(supervisor.stats().legs[0]).toMatchObject({ inOutbox: 1, dispositions: { dead_lettered: 0 } });
  await supervisor.shutdown();
});

test("spec 4.4.5: of a fan_out of which only one leg was seen before, the warning comes all the same", async () => {
  const { supervisor, config } = await started(() => ({}), { dispatchMode: "fan_out", bindings: ["a", "b"] });
  const message = { subject: "s", payload: new TextEncoder().encode("x"), id: "m1" };
  const only = {
    ...config,
    routes: config.routes.map((route) => ({
      ...route,
      dispatchMode: "single" as const,
      bindings: ["a"],
      resolver: { type: "static" as const, bindings: ["a"] },
    })),
  };
  await supervisor.apply(only, bound());
  expect(await supervisor.inject("r", message, { signal: bound() })).not.toHaveProperty("warning");
  await supervisor.apply(config, bound());
  expect(await supervisor.inject("r", message, { signal: bound() })).toMatchObject({
    outcome: "delivered",
    warning: expect.stringContaining("seen this message id") as string,
  });
  await supervisor.shutdown();
});
