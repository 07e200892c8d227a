import { BridgeError } from "@bridge/ports";
import { expect, test } from "vitest";
import { turn } from "../support/fake-clock.ts";
import { heldRoute } from "../support/held-route.ts";
import { bound, type MemoryBridge, memoryBridge } from "../support/memory-bridge.ts";

const refused = new BridgeError("FORBIDDEN", "no");
const down = new BridgeError("UNAVAILABLE", "down");

/** What a tap on the route tells of one message, once its source has been told. */
async function tapped({ hub, clock, supervisor }: MemoryBridge, message: Parameters<typeof hub.publish>[1], times = 1) {
  using tap = supervisor.tap("r");
  const batch = tap.next(bound());
  const settled = hub.channel("in").waitForSettlements(times, bound());
  let isSettled = false;
  void settled.finally(() => (isSettled = true));
  hub.publish("in", message);
  await clock.until(() => isSettled);
  await clock.advance(100);
  return (await batch)?.messages.map(({ envelopeId, outcome, legs, ms }) => ({ envelopeId, outcome, legs, ms }));
}

test("operators 6.3: a tap shows each leg of a message, with how often it was sent and how long it took", async () => {
  const bridge = memoryBridge({ dispatchMode: "fan_out", bindings: ["a", "b"] });
  const { hub, supervisor } = bridge;
  await supervisor.start(bound());
  hub.channel("a").sends.failNext(2, down);
  hub.channel("b").sends.failNext(1, refused);
  const [message, ...others] = (await tapped(bridge, { id: "m1" })) ?? [];
  expect(others).toEqual([]);
  // A retry after 1 s, and one after 2 s more.
  expect(message).toMatchObject({ envelopeId: "m1", outcome: "dead_lettered" });
  expect(message?.ms).toBeGreaterThanOrEqual(3_000);
  expect(message?.legs.toSorted((one, other) => (one.bindingId < other.bindingId ? -1 : 1))).toEqual([
    { bindingId: "a", outcome: "delivered", attempts: 3, ms: message?.ms },
    { bindingId: "b", outcome: "dead_lettered", attempts: 1, ms: 0 },
  ]);
  await supervisor.shutdown();
});

test("operators 6.3: a tap shows what its source was told of, and nothing of what was abandoned", async () => {
  const { clock, parts, sender, settled, receive } = heldRoute();
  using tap = parts.taps.open({});
  const source = new AbortController();
  for (const id of ["m1", "m2"]) receive(id, { signal: source.signal });
  receive("m3");
  await turn();
  source.abort();
  await turn();
  sender.sends[2]?.accept();
  await turn();
  expect(settled).toMatchObject([{ envelopeId: "m3" }]);
  const [batch] = await Promise.all([tap.next(bound()), clock.advance(100)]);
  expect(batch).toMatchObject({ messages: [{ envelopeId: "m3", outcome: "delivered" }], lost: 0 });
  expect(batch?.messages).toHaveLength(1);
});

test("operators 6.3: what goes into the outbox is shown when its source is told, and has not been sent", async () => {
  const bridge = memoryBridge({ deliveryMode: "shared_outbox" });
  const { hub, supervisor } = bridge;
  hub.channel("out").sends.failNext(1_000, down);
  await supervisor.start(bound());
  const leg = { bindingId: "out", attempts: 0 };
  const [message] = (await tapped(bridge, { id: "m1" })) ?? [];
  expect(message).toEqual({
    envelopeId: "m1",
    outcome: "persisted",
    legs: [{ ...leg, outcome: "persisted", ms: message?.ms }],
    ms: message?.ms,
  });
  expect(await tapped(bridge, { id: "m1" }, 2)).toMatchObject([
    { outcome: "duplicate", legs: [{ ...leg, outcome: "duplicate" }] },
  ]);
  await supervisor.shutdown();
});

test("operators 6.4: where a message ended is told of what came into the outbox again, and of what came out of it", async () => {
  const bridge = memoryBridge({ deliveryMode: "shared_outbox" });
  const { hub, clock, supervisor } = bridge;
  await supervisor.start(bound());
  for (let times = 1; times <= 2; times++) {
    hub.publish("in", { id: "m1" });
    await hub.channel("in").waitForSettlements(times, bound());
    await clock.advance(2_000);
  }
  const { ended } = supervisor.whereabouts("m1");
  expect(ended.map(({ bindingId, outcome }) => [bindingId, outcome])).toEqual(
    expect.arrayContaining([
      ["out", "duplicate"],
      ["out", "delivered"],
    ]),
  );
  await supervisor.shutdown();
});
