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
