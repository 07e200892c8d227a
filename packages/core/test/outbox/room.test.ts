import { getEventListeners } from "node:events";
import { BridgeError, type OutboxStore, systemRandom } from "@bridge/ports";
import { openMemoryOutbox } from "@bridge/memory";
import { expect, test } from "vitest";
import { OutboxDepth } from "../../src/outbox/outbox-depth.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound, memoryBridge } from "../support/memory-bridge.ts";
import { outboxAway } from "../support/store-away.ts";

test("a message whose write failed takes its room once, so that a full outbox takes it when it works again", async () => {
  const clock = new FakeClock();
  const inner = openMemoryOutbox({ maxRecords: 10, retentionMs: 3_600_000, clock, random: systemRandom() });
  let failures = 3;
  const outbox: OutboxStore = {
    ...inner,
    async persist(records, signal) {
      if (failures-- > 0) throw new BridgeError("UNAVAILABLE", "disk full");
      return inner.persist(records, signal);
    },
  };
  const { hub, supervisor } = memoryBridge({
    deliveryMode: "shared_outbox",
    policy: { maxOutboxDepth: 1 },
    clock,
    outbox,
  });
  await supervisor.start(bound());
  for (const id of ["m0", "m1"]) hub.publish("in", { id });
  await clock.until(() => hub.channel("out").arrived === 2);
  await clock.until(() => supervisor.view().level === "full");
  expect(supervisor.stats().unaccounted).toBe(0);
  await supervisor.shutdown();
});

test("an outbox that refuses what waits for it is not called full", async () => {
  const away = outboxAway("refuses");
  const { hub, clock, supervisor } = memoryBridge({
    deliveryMode: "shared_outbox",
    clock: away.clock,
    outbox: away.store,
  });
  await supervisor.start(bound());
  for (const id of ["m0", "m1"]) hub.publish("in", { id });
  const reason = (): string | undefined => supervisor.view().routes[0]?.progress?.reason;
  await clock.until(() => reason()?.includes("the server is away") === true);
  expect(reason()).not.toContain("full");
  away.become("well");
  await clock.until(() => hub.channel("out").arrived === 2);
  await supervisor.shutdown();
});

test("an outbox that is full costs the level full before the first message has to wait for it", async () => {
  const { hub, clock, supervisor } = memoryBridge({ deliveryMode: "shared_outbox", policy: { maxOutboxDepth: 1 } });
  await supervisor.start(bound());
  const hold = hub.channel("out").sends.hold();
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("in").accepted === 1);
  expect(supervisor.view()).toMatchObject({
    level: "subscribed",
    routes: [{ progress: { reason: expect.stringContaining("the outbox is full: max_outbox_depth is 1") as string } }],
  });
  hold[Symbol.dispose]();
  await clock.until(() => supervisor.view().level === "full");
  await supervisor.shutdown();
});

test("a wait for room leaves nothing behind on its signal, however often there was some", async () => {
  const depth = new OutboxDepth(1);
  const { signal } = new AbortController();
  for (let times = 0; times < 3; times++) {
    expect(depth.tryTake(1)).toBe(true);
    const changed = depth.changed(signal);
    depth.give(1);
    await changed;
  }
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
