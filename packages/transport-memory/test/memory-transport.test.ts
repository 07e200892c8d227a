import { BridgeError, type Delivery, type Envelope, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import * as v from "valibot";
import { expect, test } from "vitest";
import { memoryHub, memoryTransport } from "../src/index.ts";

const seams = { clock: systemClock, random: systemRandom(), logger: silentLogger };

function build(receiverOptions: object = {}, senderOptions: object = {}) {
  const hub = memoryHub();
  const { receiver, sender } = memoryTransport(hub);
  return {
    hub,
    receiver: receiver!.create(v.parse(receiver!.options, { channel: "in", ...receiverOptions }), {
      ...seams,
      id: "in",
      topics: [],
      maxInFlight: 10,
    }),
    sender: sender!.create(v.parse(sender!.options, senderOptions), { ...seams, id: "out" }),
  };
}

const envelope: Envelope = {
  id: "m1",
  sourceId: "s",
  subject: "a",
  contentType: "",
  headers: { "x-bridge.generated-id": "true", plain: "1" },
  payload: new Uint8Array([1]),
  correlationId: "m1",
  receivedAt: 0,
};

test("what a sender sends arrives in the channel, without the reserved headers", async () => {
  const { hub, sender } = build();
  await sender.send(envelope, "out", new AbortController().signal);
  expect(hub.channel("out").messages()).toMatchObject([{ id: "m1", headers: { plain: "1" } }]);
});

test("what a receiver did not settle comes back in front, counted", async () => {
  const { hub, receiver } = build();
  for (const payload of ["a", "b", "c"]) hub.publish("in", { payload });
  const first = new AbortController();
  const iterator = receiver.receive(first.signal)[Symbol.asyncIterator]();
  const [a, b] = [await iterator.next(), await iterator.next()] as Array<IteratorYieldResult<Delivery>>;
  await b!.value.settle({ kind: "accept", outcome: "delivered", envelopeId: "b" });
  first.abort();
  expect((await iterator.next()).done).toBe(true);
  expect(a!.value.signal?.aborted).toBe(true);
  await expect(a!.value.settle({ kind: "accept", outcome: "delivered", envelopeId: "a" })).rejects.toMatchObject({
    code: "CONNECTION_LOST",
  });
  const second = new AbortController();
  const seen: Array<[string, number | undefined]> = [];
  for await (const delivery of receiver.receive(second.signal)) {
    seen.push([new TextDecoder().decode(delivery.message.payload), delivery.receiveCount]);
    if (seen.length === 2) second.abort();
  }
  expect(seen).toEqual([
    ["a", 2],
    ["c", 1],
  ]);
});

test("a send that is to fail does so as often as asked", async () => {
  const { hub, sender } = build();
  const { signal } = new AbortController();
  hub.channel("out").sends.failNext(2, new BridgeError("THROTTLED", "slow down"));
  await expect(sender.send(envelope, "out", signal)).rejects.toMatchObject({ code: "THROTTLED" });
  await expect(sender.send(envelope, "out", signal)).rejects.toMatchObject({ code: "THROTTLED" });
  await sender.send(envelope, "out", signal);
  expect(hub.channel("out").arrived).toBe(1);
});
