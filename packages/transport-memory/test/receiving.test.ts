import { BridgeError } from "@bridge/ports";
import { ManualClock } from "@bridge/tooling/manual-clock";
import { expect, test } from "vitest";
import { memoryHub } from "../src/index.ts";
import { ACCEPT, iterate, next, parts, signal, textOf } from "./parts.ts";

test("hands out messages in the order they came", async () => {
  const hub = memoryHub();
  for (const payload of ["a", "b", "c"]) hub.publish("in", { payload });
  const iterator = iterate(parts(hub).receiver({}));
  const deliveries = [await next(iterator), await next(iterator), await next(iterator)];
  expect(deliveries.map(textOf)).toEqual(["a", "b", "c"]);
  expect(hub.channel("in")).toMatchObject({ arrived: 3, handedOut: 3, unsettled: 3, accepted: 0 });
});

test("a settlement is told at once", async () => {
  const hub = memoryHub();
  hub.publish("in", { payload: "a" });
  const delivery = await next(iterate(parts(hub).receiver({})));
  expect(delivery.settle(ACCEPT)).toBe(undefined);
  expect(hub.channel("in").settlements()).toMatchObject([{ message: { subject: "in" }, settlement: ACCEPT }]);
});

test("settling twice is refused", async () => {
  const hub = memoryHub();
  hub.publish("in", { payload: "a" });
  const delivery = await next(iterate(parts(hub).receiver({})));
  await delivery.settle(ACCEPT);
  await expect(delivery.settle(ACCEPT)).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  expect(hub.channel("in").accepted).toBe(1);
});

test("what was not settled comes back in front of the others, in its order, with higher counts", async () => {
  const hub = memoryHub();
  for (const payload of ["a", "b", "c", "d"]) hub.publish("in", { payload });
  const receiver = parts(hub).receiver({});
  const first = iterate(receiver);
  const [a, b] = [await next(first), await next(first), await next(first)];
  await b?.settle(ACCEPT);
  await first.return?.();
  expect(a?.signal?.aborted).toBe(true);
  const second = iterate(receiver);
  const again = [await next(second), await next(second), await next(second)];
  expect(again.map((delivery) => [textOf(delivery), delivery.receiveCount])).toEqual([
    ["a", 2],
    ["c", 2],
    ["d", 1],
  ]);
});

test("with a redelivery delay it comes back when that is over", async () => {
  const hub = memoryHub();
  const clock = new ManualClock();
  hub.publish("in", { payload: "a" });
  const receiver = parts(hub).receiver({ redelivery_delay: "5s" }, { clock });
  const first = iterate(receiver);
  await next(first);
  await first.return?.();
  const back = next(iterate(receiver));
  clock.advance(4_999);
  expect(hub.channel("in").handedOut).toBe(1);
  clock.advance(1);
  expect((await back).receiveCount).toBe(2);
});

test("released deliveries come back in the order they are due", async () => {
  const hub = memoryHub();
  const clock = new ManualClock();
  for (const payload of ["a", "b", "c"]) hub.publish("in", { payload });
  const iterator = iterate(parts(hub).receiver({}, { clock }));
  for (const delayMs of [300, 100, 200]) await (await next(iterator)).settle({ kind: "release", delayMs });
  const later = [next(iterator), next(iterator), next(iterator)];
  expect(clock.delays).toBe(1);
  for (const handedOut of [4, 5, 6]) {
    clock.advance(100);
    await hub.channel("in").until((channel) => channel.handedOut === handedOut, signal);
  }
  expect((await Promise.all(later)).map(textOf)).toEqual(["b", "c", "a"]);
  expect(hub.channel("in").released).toBe(3);
});

test("no timer runs for a delayed message that nobody waits for", async () => {
  const hub = memoryHub();
  const clock = new ManualClock();
  hub.publish("in", { payload: "a" });
  const receiver = parts(hub).receiver({}, { clock });
  const iterator = iterate(receiver);
  await (await next(iterator)).settle({ kind: "release", delayMs: 1_000 });
  expect(clock.delays).toBe(0);
  const waiting = iterator.next();
  expect(clock.delays).toBe(1);
  await receiver[Symbol.asyncDispose]();
  expect((await waiting).done).toBe(true);
  expect(clock.delays).toBe(0);
});

test("without counts and releases it promises neither, and refuses a release", async () => {
  const hub = memoryHub();
  hub.publish("in", { payload: "a" });
  const delivery = await next(iterate(parts(hub).receiver({ counts: false, releasable: false })));
  expect(delivery).toMatchObject({ receiveCount: undefined, releasable: false });
  await expect(delivery.settle({ kind: "release", delayMs: 0 })).rejects.toMatchObject({ code: "INTERNAL" });
  expect(delivery.settle(ACCEPT)).toBe(undefined);
});

test("receivers of one channel share its messages", async () => {
  const hub = memoryHub();
  const { receiver } = parts(hub);
  const [one, other] = [iterate(receiver({})), iterate(receiver({}))];
  const waiting = [next(one), next(other), next(one)];
  for (const payload of ["a", "b", "c"]) hub.publish("in", { payload });
  expect((await Promise.all(waiting)).map(textOf).toSorted()).toEqual(["a", "b", "c"]);
});

test("what one receiver leaves unsettled goes to another that waits", async () => {
  const hub = memoryHub();
  const { receiver } = parts(hub);
  hub.publish("in", { payload: "a" });
  const one = iterate(receiver({}));
  await next(one);
  const waiting = next(iterate(receiver({})));
  await one.return?.();
  expect((await waiting).receiveCount).toBe(2);
});

test("a message can be handed out as impossible to decode", async () => {
  const hub = memoryHub();
  const reason = new BridgeError("INVALID_PAYLOAD", "no JSON");
  hub.channel("in").publish({ payload: "{" }, reason);
  expect((await next(iterate(parts(hub).receiver({})))).undecodable).toBe(reason);
});

test("an interruption lets receive throw, once, and what was unsettled comes back", async () => {
  const hub = memoryHub();
  const lost = new BridgeError("CONNECTION_LOST", "the source is gone");
  hub.publish("in", { payload: "a" });
  const receiver = parts(hub).receiver({});
  const iterator = iterate(receiver);
  const delivery = await next(iterator);
  hub.channel("in").interrupt(lost);
  expect(delivery.signal?.reason).toBe(lost);
  await expect(iterator.next()).rejects.toBe(lost);
  expect((await iterator.next()).done).toBe(true);
  expect(textOf(await next(iterate(receiver)))).toBe("a");
});

test("a settlement can be made to fail; the message then comes back", async () => {
  const hub = memoryHub();
  const { settles } = hub.channel("in");
  const late = new BridgeError("CONNECTION_LOST", "too late");
  hub.publish("in", { payload: "a" });
  const iterator = iterate(parts(hub).receiver({}));
  settles.failNext(1, late);
  await expect((await next(iterator)).settle(ACCEPT)).rejects.toBe(late);
  const again = await next(iterator);
  expect(again.receiveCount).toBe(2);
  expect(again.settle(ACCEPT)).toBe(undefined);
});

test("a settlement can be held up, and is taken when it is let go", async () => {
  const hub = memoryHub();
  const channel = hub.channel("in");
  hub.publish("in", { payload: "a" });
  const hold = channel.settles.hold();
  const told = (await next(iterate(parts(hub).receiver({})))).settle(ACCEPT);
  await channel.until(() => channel.settles.held === 1, signal);
  expect(channel.accepted).toBe(0);
  hold[Symbol.dispose]();
  await told;
  expect(channel.accepted).toBe(1);
});

test("opening can be made to fail", async () => {
  const hub = memoryHub();
  hub.channel("in").opens.failNext(1, new BridgeError("UNAVAILABLE", "not now"));
  const receiver = parts(hub).receiver({});
  await expect(receiver.open?.(signal)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await receiver.open?.(signal);
});

test("a disposed receiver hands out nothing", async () => {
  const hub = memoryHub();
  hub.publish("in", { payload: "a" });
  const receiver = parts(hub).receiver({});
  await receiver[Symbol.asyncDispose]();
  expect((await iterate(receiver).next()).done).toBe(true);
  expect(hub.channel("in").messages()).toHaveLength(1);
});
