import { BridgeError, type OutboxStore, systemRandom } from "@bridge/ports";
import { openMemoryOutbox } from "@bridge/memory";
import { expect, test } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";

/** A bridge with one message delivered, of which the outbox was told three times in vain how it ended. */
async function telling() {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  const told = { tries: 0, failing: true };
  const outbox: OutboxStore = {
    ...inner,
    async finish(ends, signal) {
      told.tries++;
      if (told.failing) throw new BridgeError("UNAVAILABLE", "disk full");
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
  await clock.until(() => told.tries === 3);
  return { clock, inner, told, supervisor };
}

test("an end that waits to be repeated is said at once when a stop begins, so that nothing is delivered twice", async () => {
  const { inner, told, supervisor } = await telling();
  told.failing = false;
  // No time passes for the pause by itself.
  await supervisor.stop(bound());
  expect(told.tries).toBe(4);
  expect(await inner.backlog(bound())).toEqual([]);
  await supervisor.shutdown();
});

test("a stop does not wait for a store that goes on refusing: five times in all are enough", async () => {
  const { clock, told, supervisor } = await telling();
  const before = clock.now();
  const stopped = supervisor.stop(bound());
  await clock.until(() => supervisor.state().kind === "paused");
  await stopped;
  expect(told.tries).toBe(5);
  expect(clock.now() - before).toBeLessThan(5_000);
  await supervisor.shutdown();
});
