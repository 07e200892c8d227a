import type { Processor } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import type { HistogramStats } from "../../src/accounting/histogram.ts";
import { turn } from "../support/fake-clock.ts";
import { bound, type MemoryBridge, memoryBridge, outage, refusal } from "../support/memory-bridge.ts";

/** How many were entered, and their milliseconds together. */
const entered = ({ counts, sum }: HistogramStats) => [counts.reduce((all, one) => all + one, 0), sum];

/** Everything that one binding of a bridge has entered. */
function durations({ supervisor }: MemoryBridge, bindingId = "out") {
  const { legs, routes } = supervisor.stats();
  const leg = legs.find((one) => one.bindingId === bindingId);
  const [route] = routes;
  if (leg === undefined || route === undefined) throw new Error("nothing was counted");
  return {
    accepted: entered(leg.sends.accepted),
    failed: entered(leg.sends.failed),
    endToEnd: entered(leg.endToEnd),
    outboxAge: entered(leg.outboxAge),
    hold: entered(route.hold),
  };
}

const NOTHING = { accepted: [0, 0], failed: [0, 0], endToEnd: [0, 0], outboxAge: [0, 0], hold: [0, 0] };

/** Takes a message whose target answers after `ms`. */
async function heldFor(bridge: MemoryBridge, ms: number, messages = 1): Promise<void> {
  const { hub, clock } = bridge;
  const hold = hub.channel("out").sends.hold();
  for (let at = 0; at < messages; at++)
    hub.publish("in", { id: `m${at}`, orderingKey: messages > 1 ? "k" : undefined });
  await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
  await clock.advance(ms);
  hold[Symbol.dispose]();
  await hub.channel("in").waitForSettlements(messages, bound());
}

describe("how long things take, in direct_hold", () => {
  test("the send, the message from end to end, and the hold of its source", async () => {
    const bridge = memoryBridge();
    await bridge.supervisor.start(bound());
    expect(durations(bridge)).toEqual(NOTHING);
    await heldFor(bridge, 40);
    expect(durations(bridge)).toEqual({ ...NOTHING, accepted: [1, 40], endToEnd: [1, 40], hold: [1, 40] });
    await bridge.supervisor.shutdown();
  });

  test("a wait for a retry belongs to the message, not to its sends", async () => {
    const bridge = memoryBridge();
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, outage);
    hub.publish("in", { id: "m1" });
    await clock.until(() => supervisor.stats().legs[0]?.attempts === 1);
    await clock.advance(2_000);
    await hub.channel("in").waitForSettlements(1, bound());
    expect(durations(bridge)).toEqual({
      ...NOTHING,
      accepted: [1, 0],
      failed: [1, 0],
      endToEnd: [1, 1_000],
      hold: [1, 1_000],
    });
    await supervisor.shutdown();
  });

  test("so does the wait for its turn behind another of its ordering key", async () => {
    const bridge = memoryBridge();
    await bridge.supervisor.start(bound());
    await heldFor(bridge, 40, 2);
    expect(durations(bridge)).toEqual({ ...NOTHING, accepted: [2, 40], endToEnd: [2, 80], hold: [2, 80] });
    await bridge.supervisor.shutdown();
  });

  test("so does the time of its processors", async () => {
    const release = Promise.withResolvers<void>();
    const processor: Processor = {
      process: async (envelope) => {
        await release.promise;
        return { kind: "pass", envelope };
      },
    };
    const bridge = memoryBridge({ processors: [processor] });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    await hub.channel("in").until((channel) => channel.unsettled === 1, bound());
    await clock.advance(70);
    release.resolve();
    await hub.channel("in").waitForSettlements(1, bound());
    expect(durations(bridge)).toEqual({ ...NOTHING, accepted: [1, 0], endToEnd: [1, 70], hold: [1, 70] });
    await supervisor.shutdown();
  });

  test("a dead letter ends a hold and no way from end to end", async () => {
    const bridge = memoryBridge();
    const { hub, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("out").sends.failNext(1, refusal);
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    expect(durations(bridge)).toEqual({ ...NOTHING, failed: [1, 0], hold: [1, 0] });
    await supervisor.shutdown();
  });

  test("fan_out: each leg its own, and the hold lasts until the last one has ended", async () => {
    const bridge = memoryBridge({ dispatchMode: "fan_out", bindings: ["out", "other"] });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.channel("other").sends.failNext(1, outage);
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    await clock.advance(40);
    hold[Symbol.dispose]();
    await clock.advance(2_000);
    await hub.channel("in").waitForSettlements(1, bound());
    expect(durations(bridge)).toMatchObject({ accepted: [1, 40], endToEnd: [1, 40], hold: [1, 1_000] });
    expect(durations(bridge, "other")).toMatchObject({ accepted: [1, 0], failed: [1, 0], endToEnd: [1, 1_000] });
    await supervisor.shutdown();
  });

  test("what an operator injects has a way from end to end and no source that is held", async () => {
    const bridge = memoryBridge();
    await bridge.supervisor.start(bound());
    await bridge.supervisor.inject("r", { subject: "s", payload: new Uint8Array() }, { signal: bound() });
    expect(durations(bridge)).toEqual({ ...NOTHING, accepted: [1, 0], endToEnd: [1, 0] });
    await bridge.supervisor.shutdown();
  });

  test("a source that is told late is held until then", async () => {
    const told = Promise.withResolvers<void>();
    const bridge = memoryBridge({
      transports: ({ receiver }) => {
        if (receiver === undefined) throw new Error("no receiver");
        const create: typeof receiver.create = (options, context) => {
          const inner = receiver.create(options, context);
          return {
            async *receive(signal) {
              for await (const delivery of inner.receive(signal)) {
                yield { ...delivery, message: delivery.message, settle: () => told.promise };
              }
            },
            [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
          };
        };
        return [{ type: "late", receiver: { ...receiver, create } }];
      },
      config: (config) => ({
        ...config,
        receivers: config.receivers.map((receiver) => ({ ...receiver, transport: "late" })),
      }),
    });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until((channel) => channel.arrived === 1, bound());
    await clock.advance(25);
    told.resolve();
    await clock.until(() => supervisor.stats().routes[0]?.inFlight === 0);
    expect(durations(bridge)).toMatchObject({ endToEnd: [1, 0], hold: [1, 25] });
    await supervisor.shutdown();
  });
});

describe("how long things take, in shared_outbox", () => {
  test("the source is held until the record is durable; the message is on its way until the target has it", async () => {
    const bridge = memoryBridge({ deliveryMode: "shared_outbox" });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(1, bound());
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    await clock.advance(300);
    hold[Symbol.dispose]();
    await hub.channel("out").until((channel) => channel.arrived === 1, bound());
    await turn();
    expect(durations(bridge)).toEqual({
      accepted: [1, 300],
      failed: [0, 0],
      endToEnd: [1, 300],
      outboxAge: [1, 300],
      hold: [1, 0],
    });
    await supervisor.shutdown();
  });

  test("clocks that were set back make no negative age", async () => {
    const bridge = memoryBridge({ deliveryMode: "shared_outbox" });
    const { hub, clock, supervisor } = bridge;
    await supervisor.start(bound());
    const hold = hub.channel("out").sends.hold();
    hub.publish("in", { id: "m1" });
    await hub.channel("out").until((channel) => channel.sends.held === 1, bound());
    clock.skip(-500);
    hold[Symbol.dispose]();
    await hub.channel("out").until((channel) => channel.arrived === 1, bound());
    await turn();
    expect(durations(bridge)).toMatchObject({ endToEnd: [1, 0], outboxAge: [1, 0] });
    await supervisor.shutdown();
  });
});
