import { BridgeError, newHeaders, type Processor } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { bound, memoryBridge, type MemoryBridgeOptions, outage } from "../support/memory-bridge.ts";

/** A bridge with an outbox whose messages go through `processor`. */
async function through(processor: Processor, options: MemoryBridgeOptions = {}) {
  const bridge = memoryBridge({ ...options, deliveryMode: "shared_outbox", processors: [processor] });
  await bridge.supervisor.start(bound());
  return bridge;
}

describe("a message is known by what was received, whatever processors make of it", () => {
  test("its ordering key holds though a processor takes the headers away", async () => {
    const bare: Processor = {
      process: (envelope) => ({ kind: "pass", envelope: { ...envelope, headers: newHeaders() } }),
    };
    const { hub, clock, supervisor } = await through(bare);
    hub.channel("out").sends.failNext(1, outage);
    for (const id of ["m1", "m2", "m3"]) hub.publish("in", { id, orderingKey: "k" });
    await clock.until(() => hub.channel("out").arrived === 3, 100);
    const order = hub.channel("out").drain();
    expect(order.map(({ id }) => id)).toEqual(["m1", "m2", "m3"]);
    await supervisor.shutdown();
  });

  test("a redelivery is a duplicate though a processor makes another payload of it each time", async () => {
    let times = 0;
    const stamp: Processor = {
      process: (envelope) => ({ kind: "pass", envelope: { ...envelope, payload: Buffer.from(`${times++}`) } }),
    };
    const { hub, clock, supervisor } = await through(stamp);
    for (let sent = 0; sent < 2; sent++) hub.publish("in", { id: "m1", payload: "same" });
    await clock.until(() => hub.channel("in").accepted === 2 && hub.channel("out").arrived === 1);
    expect(supervisor.stats().legs[0]?.dispositions).toMatchObject({ delivered: 1, duplicate: 1, dead_lettered: 0 });
    await supervisor.shutdown();
  });
});

test("a failure of a processor that is not charged takes none of max_replay_attempts", async () => {
  const failures = [false, false, false, false, false, true];
  const flaky: Processor = {
    process(envelope) {
      const charged = failures.shift();
      if (charged !== undefined) throw new BridgeError("UNAVAILABLE", "not now", { charged });
      return { kind: "pass", envelope };
    },
  };
  const { hub, clock, supervisor } = await through(flaky, { policy: { maxReplayAttempts: 3 } });
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("in").accepted === 1, 100);
  await clock.until(() => hub.channel("out").arrived === 1, 100, 100);
  expect(failures).toEqual([]);
  await supervisor.shutdown();
});

test("who let a send through that another processor refused is told that nothing was sent", async () => {
  const told: string[] = [];
  const pass: Processor["process"] = (envelope) => ({ kind: "pass", envelope });
  const first: Processor = {
    process: pass,
    admit: () => ({ kind: "admitted", ended: (outcome) => void told.push(outcome.kind) }),
  };
  let refusing = true;
  const second: Processor = {
    process: pass,
    admit: () =>
      refusing
        ? { kind: "refused", error: new BridgeError("UNAVAILABLE", "open", { charged: false }) }
        : { kind: "admitted", ended: () => {} },
  };
  const { hub, clock, supervisor } = memoryBridge({ processors: [first, second] });
  await supervisor.start(bound());
  hub.publish("in", { id: "m1" });
  await clock.until(() => told.length === 1);
  expect(hub.channel("out").arrived).toBe(0);
  refusing = false;
  await clock.until(() => hub.channel("out").arrived === 1);
  expect(told.filter((kind) => kind !== "cancelled")).toHaveLength(1);
  expect(told[0]).toBe("cancelled");
  await supervisor.shutdown();
});
