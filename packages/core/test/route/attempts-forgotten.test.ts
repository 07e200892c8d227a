import { BridgeError, type Processor } from "@bridge/ports";
import { expect, test } from "vitest";
import { bound, memoryBridge, outage } from "../support/memory-bridge.ts";

const policy = { maxReplayAttempts: 3 };

test.each([
  { ended: "dead-lettered", failures: 3, attempts: 3 },
  { ended: "delivered", failures: 2, attempts: 3 },
])(
  "finding 10.1: the attempts of a message that was $ended are not counted for the next of its id",
  async ({ failures, attempts }) => {
    const { hub, clock, supervisor } = memoryBridge({ releasable: true, policy });
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(failures, outage);
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").accepted === 1);
    expect(supervisor.stats().legs[0]).toMatchObject({ attempts, dispositions: { released: 2 } });
    hub.channel("out").sends.failNext(Infinity, outage);
    hub.publish("in", { id: "m1" });
    await clock.until(() => hub.channel("in").accepted === 2);
    expect(supervisor.stats().legs[0]).toMatchObject({ attempts: attempts + 3, dispositions: { released: 4 } });
    await supervisor.shutdown();
  },
);

const outages = (count: number): { next(): boolean } => ({ next: () => count-- > 0 });

test("the attempts of a message that a processor has let through at last are not counted for the next of its id", async () => {
  let failing = outages(2);
  const processor: Processor = {
    process: async (envelope) => {
      if (failing.next()) throw outage;
      return { kind: "pass", envelope };
    },
  };
  const { hub, clock, supervisor } = memoryBridge({ releasable: true, policy, processors: [processor] });
  const released = (): number => supervisor.stats().legs.reduce((sum, leg) => sum + leg.dispositions.released, 0);
  await supervisor.start(bound());
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("in").accepted === 1);
  expect(released()).toBe(2);
  failing = outages(Infinity);
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("in").accepted === 2);
  expect(released()).toBe(4);
  await supervisor.shutdown();
});

test("the attempts of a message that a processor refuses in the end are not counted for the next of its id", async () => {
  let comes = 0;
  const processor: Processor = {
    process: async (envelope) => {
      if (++comes === 3) throw new BridgeError("FORBIDDEN", "no more");
      return { kind: "pass", envelope };
    },
  };
  const { hub, clock, supervisor } = memoryBridge({ releasable: true, policy, processors: [processor] });
  await supervisor.start(bound());
  hub.channel("out").sends.failNext(Infinity, outage);
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("in").accepted === 1);
  expect(supervisor.stats().legs.find(({ bindingId }) => bindingId !== "")).toMatchObject({ attempts: 2 });
  hub.publish("in", { id: "m1" });
  await clock.until(() => hub.channel("in").accepted === 2);
  expect(supervisor.stats().legs.find(({ bindingId }) => bindingId !== "")).toMatchObject({ attempts: 5 });
  await supervisor.shutdown();
});
