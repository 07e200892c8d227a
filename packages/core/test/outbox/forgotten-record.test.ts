import { openMemoryOutbox } from "@bridge/memory";
import { BridgeError, systemRandom } from "@bridge/ports";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

test("a record whose write was not confirmed, which was delivered and forgotten before the next try, is in the books twice", async () => {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 1, retentionMs: 3_600_000, clock, random: systemRandom() });
  let unheard = 1;
  const outbox: typeof inner = {
    ...inner,
    async persist(records, signal) {
      const results = await inner.persist(records, signal);
      if (unheard-- > 0) throw new BridgeError("TIMEOUT", "no answer");
      return results;
    },
  };
  const { hub, supervisor } = memoryBridge({
    deliveryMode: "shared_outbox",
    clock,
    outbox,
    policy: { backoff: { initialIntervalMs: 10_000, maxIntervalMs: 10_000, multiplier: 1, jitter: 0 } },
  });
  await supervisor.start(bound());
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("out").arrived === 1);
  hub.publish("in", { id: "m2" });
  await clock.until(() => hub.channel("out").arrived === 2);
  await clock.until(() => hub.channel("out").arrived === 3 && hub.channel("in").accepted === 2);
  await clock.until(() => supervisor.stats().legs[0]?.dispositions.delivered === 3);
  expect(supervisor.stats().legs[0]).toMatchObject({ received: 2, recovered: 1, inOutbox: 0, inFlight: 0 });
  expect(supervisor.stats().unaccounted).toBe(0);
  await supervisor.shutdown();
});
