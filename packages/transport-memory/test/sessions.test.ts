import { BridgeError, type Delivery, systemClock } from "@bridge/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { memoryHub } from "../src/index.ts";
import { ACCEPT, envelope, iterate, next, parts, signal, textOf } from "./parts.ts";

test("a receiver hands out messages from its subscription on, and again after a cut", async () => {
  const hub = memoryHub();
  const link = hub.link("broker", "source");
  const session = parts(hub).session("broker", "source");
  const receiver = parts(hub).receiver({}, { session });
  hub.publish("in", { payload: "a" });
  const iterator = iterate(receiver);
  const first = next(iterator);
  const connection = await session.connect(signal);
  expect(hub.channel("in").handedOut).toBe(0);
  expect(await connection.reconcile(signal)).toEqual(new Set(["in"]));
  const delivery = await first;
  const again = next(iterator);
  link.cut();
  expect(await connection.closed).toMatchObject({ code: "CONNECTION_LOST" });
  expect(delivery.signal?.aborted).toBe(true);
  await expect(delivery.settle(ACCEPT)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  await (await session.connect(signal)).reconcile(signal);
  expect((await again).receiveCount).toBe(2);
  expect(link.connections).toBe(2);
});

test("a receiver that begins when its channel is subscribed starts at once", async () => {
  const hub = memoryHub();
  const session = parts(hub).session("broker", "source");
  const receiver = parts(hub).receiver({}, { session });
  await (await session.connect(signal)).reconcile(signal);
  hub.publish("in", { payload: "a" });
  expect(textOf(await next(iterate(receiver)))).toBe("a");
});

test("a subscription can be refused; the others go on", async () => {
  const hub = memoryHub();
  const session = parts(hub).session("broker", "source");
  const [, b] = ["a", "b"].map((channel) => parts(hub).receiver({ channel }, { session }));
  hub.link("broker", "source").refuseSubscriptions(["a"]);
  const connection = await session.connect(signal);
  expect(session.subscriptions).toEqual(new Set(["a", "b"]));
  expect(await connection.reconcile(signal)).toEqual(new Set(["b"]));
  hub.publish("b", { payload: "x" });
  expect(textOf(await next(iterate(b!)))).toBe("x");
  hub.link("broker", "source").refuseSubscriptions([]);
  expect(await connection.reconcile(signal)).toEqual(new Set(["a", "b"]));
});

test("a link that is down refuses connections until it is up again", async () => {
  const hub = memoryHub();
  const link = hub.link("broker", "target");
  const session = parts(hub).session("broker", "target");
  const connection = await session.connect(signal);
  expect(link.connected).toBe(true);
  link.down();
  expect(await connection.closed).toMatchObject({ code: "CONNECTION_LOST" });
  await expect(session.connect(signal)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  const up = link.until(({ connected }) => connected, signal);
  link.up();
  await session.connect(signal);
  await up;
});

test("the two halves of a session have links of their own", async () => {
  const hub = memoryHub();
  const { session } = parts(hub);
  const connections = await Promise.all([
    session("broker", "source").connect(signal),
    session("broker", "target").connect(signal),
  ]);
  hub.link("broker", "source").cut();
  await connections[0]?.closed;
  expect(hub.link("broker", "target").connected).toBe(true);
});

test("reconciling can be made to fail", async () => {
  const hub = memoryHub();
  const connection = await parts(hub).session("broker", "source").connect(signal);
  hub.link("broker", "source").reconciles.failNext(1, new BridgeError("FORBIDDEN", "no"));
  await expect(connection.reconcile(signal)).rejects.toMatchObject({ code: "FORBIDDEN" });
  expect(await connection.reconcile(signal)).toEqual(new Set());
});

test("a send without a connection was not tried; one that is cut off was", async () => {
  const hub = memoryHub();
  const session = parts(hub).session("broker", "target");
  const sender = parts(hub).sender({}, { session });
  await expect(sender.send(envelope(), "out", signal)).rejects.toMatchObject({
    code: "CONNECTION_LOST",
    charged: false,
  });
  await session.connect(signal);
  const hold = hub.channel("out").sends.hold();
  const send = sender.send(envelope(), "out", signal);
  hub.link("broker", "target").cut();
  await expect(send).rejects.toMatchObject({ code: "CONNECTION_LOST", charged: true });
  hold[Symbol.dispose]();
});

test("a session has one connection at a time, and none once it is disposed", async () => {
  const hub = memoryHub();
  const session = parts(hub).session("broker", "target");
  const connection = await session.connect(signal);
  await expect(session.connect(signal)).rejects.toMatchObject({ code: "INTERNAL" });
  await session[Symbol.asyncDispose]();
  expect(await connection.closed).toBe(undefined);
  await expect(session.connect(signal)).rejects.toMatchObject({ code: "INTERNAL" });
});

test("a session of another plugin is refused", () => {
  const foreign = { subscriptions: new Set<string>(), connect: () => Promise.reject(new Error("foreign")) };
  const session = { ...foreign, async [Symbol.asyncDispose]() {} };
  expect(() => parts(memoryHub()).sender({}, { session })).toThrow(TypeError);
});

/** A session with so many channels, in each of which is a message; each look at its clock is in a slice of its own. */
function manyChannels(count: number) {
  const hub = memoryHub();
  let now = 0;
  const session = parts(hub).session("broker", "source", { ...systemClock, monotonic: () => (now += 10) });
  const handedOut = new Map<number, Delivery>();
  const sources = Array.from({ length: count }, (_, index) => {
    const channel = `c${index}`;
    hub.publish(channel, { payload: channel });
    return iterate(parts(hub).receiver({ channel }, { session }));
  });
  const take = (index: number): void => void next(sources[index]!).then((delivery) => handedOut.set(index, delivery));
  for (const index of sources.keys()) take(index);
  return { link: hub.link("broker", "source"), session, handedOut, take };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("finding 5.7: of many channels a few are subscribed in one turn", async () => {
  const { session, handedOut } = manyChannels(50);
  const reconciled = (await session.connect(signal)).reconcile(signal);
  let most = 0;
  for (let turns = 0; turns < 100; turns++) {
    const before = handedOut.size;
    await turn();
    most = Math.max(most, handedOut.size - before);
  }
  expect((await reconciled).size).toBe(50);
  expect(handedOut.size).toBe(50);
  expect(most).toBeLessThanOrEqual(2);
});

test("a connection that is lost while channels are subscribed hands out nothing more, and the next one does, from all", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(14), async (turns) => {
      const { link, session, handedOut, take } = manyChannels(10);
      const reconciling = (await session.connect(signal)).reconcile(signal);
      reconciling.catch(() => {});
      for (let waited = 0; waited < turns; waited++) await turn();
      link.cut();
      const lost = [...handedOut.keys()];
      for (let waited = 0; waited < 20; waited++) await turn();
      expect(handedOut.size).toBe(lost.length);
      for (const delivery of handedOut.values()) expect(delivery.signal?.aborted).toBe(true);
      for (const index of lost) take(index);
      await (await session.connect(signal)).reconcile(signal);
      await turn();
      expect(handedOut.size).toBe(10);
      for (const delivery of handedOut.values()) expect(delivery.signal?.aborted).toBe(false);
    }),
    { numRuns: 15 },
  );
});
