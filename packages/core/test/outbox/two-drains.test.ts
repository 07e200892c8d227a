import { times } from "@bridge/tooling/long";
import { BridgeError, type OutboxStore, systemRandom } from "@bridge/ports";
import { openMemoryOutbox } from "@bridge/memory";
import { memoryHub } from "@bridge/transport-memory";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge, outage } from "../support/memory-bridge.ts";

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant("publish" as const), keys: fc.array(fc.nat(2), { maxLength: 5 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("fail" as const), count: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("deafen" as const, "hear" as const), owner: fc.nat(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const), owner: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 60_000 }) }) },
);

async function whileTimePasses(clock: FakeClock, work: Promise<void> | undefined): Promise<void> {
  const state = { over: false };
  const ended = Promise.resolve(work).finally(() => (state.over = true));
  while (!state.over) await clock.advance(100);
  await ended;
}

test("two owners of one outbox, whose words may be lost so that loans lapse: nothing is lost, and keys keep their order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const hub = memoryHub();
      const clock = new FakeClock();
      const store = openMemoryOutbox({ maxRecords: 10_000, retentionMs: 3_600_000, clock, random: systemRandom() });
      const deaf = [false, false];
      const owners = [0, 1].map((owner) => {
        // What this owner says of its loans does not arrive while it is deaf: they lapse, and the other takes over.
        const outbox: OutboxStore = {
          ...store,
          shared: true,
          finish: async (ends, signal) => {
            if (deaf[owner] === true) throw new BridgeError("UNAVAILABLE", "the store does not hear");
            return store.finish(ends, signal);
          },
          [Symbol.asyncDispose]: async () => {},
        };
        const policy = { maxReplayAttempts: 1_000, sendTimeoutMs: 1_000 };
        const channel = owner === 0 ? "in" : "nothing";
        return memoryBridge({
          deliveryMode: "shared_outbox",
          hub,
          clock,
          outbox,
          policy,
          quiesceTimeoutMs: 1,
          // Of two that take messages in there is no order of acceptance: one does, both deliver.
          config: (config) => ({
            ...config,
            receivers: config.receivers.map((receiver) => ({
              ...receiver,
              options: { ...(receiver.options as object), channel },
            })),
          }),
        });
      });
      for (const { supervisor } of owners) await supervisor.start(bound());
      let published = 0;
      for (const given of steps) {
        switch (given.do) {
          case "publish":
            for (const key of given.keys) {
              const id = String(published++).padStart(5, "0");
              hub.publish("in", { id, ...(key > 0 && { orderingKey: `k${key}` }), subject: `k${key}` });
            }
            break;
          case "fail":
            hub.channel("out").sends.failNext(given.count, outage);
            break;
          case "deafen":
          case "hear":
            deaf[given.owner] = given.do === "deafen";
            break;
          case "restart":
            // An owner that is deaf says how its loans ended some times more before it stops.
            await whileTimePasses(clock, owners[given.owner]?.supervisor.stop(bound()));
            await owners[given.owner]?.supervisor.start(bound());
            break;
          case "wait":
            await clock.advance(given.ms);
            break;
        }
      }
      deaf.fill(false);
      hub.channel("out").sends.clear();
      const atRest = async (): Promise<boolean> => {
        const { accepted, unsettled } = hub.channel("in");
        return accepted >= published && unsettled === 0 && (await store.backlog(bound())).length === 0;
      };
      for (let waits = 0; waits < 500 && !(await atRest()); waits++) await clock.advance(1_000);

      const arrived = hub.channel("out").messages();
      expect(new Set(arrived.map((message) => message.id)).size).toBe(published);
      for (const key of ["k1", "k2"]) {
        // A message may come again when a loan lapsed, but never for the first time after a younger one.
        const firsts = [...new Set(arrived.filter((message) => message.subject === key).map((message) => message.id))];
        expect(firsts).toEqual(firsts.toSorted((a, b) => Number(a) - Number(b)));
      }
      // What one has persisted and the other delivered leaves the books of the one when it is looked up.
      for (let waits = 0; waits < 10; waits++) await clock.advance(30_000);
      let delivered = 0;
      for (const { supervisor } of owners) {
        const { legs, unaccounted } = supervisor.stats();
        expect(unaccounted).toBe(0);
        expect(legs.reduce((sum, leg) => sum + leg.inOutbox, 0)).toBe(0);
        delivered += legs.reduce((sum, leg) => sum + leg.dispositions.delivered, 0);
      }
      expect(delivered).toBe(published);
      for (const { supervisor } of owners) await supervisor.shutdown();
      await store[Symbol.asyncDispose]();
    }),
    { numRuns: times(15, 60) },
  );
}, 120_000);
