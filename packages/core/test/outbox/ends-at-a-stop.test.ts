import { BridgeError, type OutboxStore, systemRandom } from "@bridge/ports";
import { openMemoryOutbox } from "@bridge/outbox-memory";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

test("an end that waits to be said again is said at once when a stop begins, so that nothing is delivered twice", async () => {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  let [failing, tries] = [true, 0];
  const outbox: OutboxStore = {
    ...inner,
    async finish(ends, signal) {
      tries++;
      if (failing) throw new BridgeError("UNAVAILABLE", "disk full");
      return inner.finish(ends, signal);
    },
    async [Symbol.asyncDispose]() {},
  };
  const { hub, supervisor } = memoryBridge({
    deliveryMode: "shared_outbox",
    clock,
    outbox,
    quiesceTimeoutMs: 5_000,
    drainTimeoutMs: 20_000,
  });
  await supervisor.start(bound());
  hub.publish("in", { id: "m1" });
  await clock.until(() => tries === 3);
  failing = false;
  // No time passes for the pause by itself.
  await supervisor.stop(bound());
  expect(tries).toBe(4);
  expect(await inner.backlog(bound())).toEqual([]);
  await supervisor.shutdown();
});
