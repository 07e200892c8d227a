import { BridgeError, RESERVED } from "@bridge/ports";
import { expect, test } from "vitest";
import { memoryHub } from "../src/index.ts";
import { envelope, parts, signal } from "./parts.ts";

test("an envelope lies in the channel as a message, its reserved headers turned into fields", async () => {
  const hub = memoryHub();
  const headers = {
    plain: "1",
    [RESERVED.generatedId]: "true",
    [RESERVED.dedupId]: "d",
    [RESERVED.orderingKey]: "k",
    [RESERVED.causationId]: "first",
  };
  await parts(hub)
    .sender()
    .send(envelope({ headers, contentType: "text/plain", expiresAt: 9 }), "out", signal);
  expect(hub.channel("out").messages()).toEqual([
    {
      id: "m1",
      subject: "subject",
      payload: Uint8Array.of(1),
      headers: { plain: "1", [RESERVED.causationId]: "first" },
      contentType: "text/plain",
      correlationId: "m1",
      dedupId: "d",
      orderingKey: "k",
      expiresAt: 9,
    },
  ]);
});

test("a payload that is part of a larger buffer lies in the channel without the rest of that", async () => {
  const hub = memoryHub();
  const read = Buffer.alloc(1_000, 7);
  const whole = new Uint8Array(3);
  for (const payload of [read.subarray(5, 8), whole])
    await parts(hub).sender().send(envelope({ payload }), "out", signal);
  const [part, other] = hub.channel("out").messages();
  expect(Buffer.from(part!.payload)).toEqual(Buffer.alloc(3, 7));
  expect(part?.payload.buffer.byteLength).toBe(3);
  expect(other?.payload).toBe(whole);
});

test("the address overrides the sender's channel; with neither there is nowhere to send", async () => {
  const hub = memoryHub();
  const sender = parts(hub).sender({ channel: "default" });
  await sender.send(envelope(), "", signal);
  await sender.send(envelope(), "other", signal);
  expect(hub.channel("default").arrived).toBe(1);
  expect(hub.channel("other").arrived).toBe(1);
  await expect(parts(hub).sender().send(envelope(), "", signal)).rejects.toMatchObject({ code: "BINDING_UNRESOLVED" });
});

test("a full channel refuses sends until there is room", async () => {
  const hub = memoryHub();
  const sender = parts(hub).sender({ max_messages: 2 });
  for (const id of ["a", "b"]) await sender.send(envelope({ id }), "out", signal);
  const refused = sender.send(envelope({ id: "c" }), "out", signal);
  await expect(refused).rejects.toMatchObject({ code: "UNAVAILABLE" });
  await expect(refused).rejects.toThrow(/"out".*full.*2.*max_messages/);
  expect(hub.channel("out").drain()).toMatchObject([{ id: "a" }, { id: "b" }]);
  await sender.send(envelope({ id: "c" }), "out", signal);
  expect(hub.channel("out")).toMatchObject({ arrived: 3 });
});

test("unsettled messages count towards the limit of the hub", async () => {
  const hub = memoryHub({ maxMessages: 1 });
  hub.publish("in", { payload: "a" });
  await parts(hub).receiver({}).receive(signal)[Symbol.asyncIterator]().next();
  expect(() => hub.publish("in", { payload: "b" })).toThrow(/full/);
});

test("a sender that discards counts and keeps nothing", async () => {
  const hub = memoryHub({ maxMessages: 1 });
  const sender = parts(hub).sender({ discard: true });
  for (let i = 0; i < 5; i++) await sender.send(envelope(), "out", signal);
  expect(hub.channel("out").arrived).toBe(5);
  expect(hub.channel("out").messages()).toEqual([]);
});

test("sends can be made to fail as often as asked", async () => {
  const hub = memoryHub();
  const { sends } = hub.channel("out");
  const sender = parts(hub).sender();
  const error = new BridgeError("THROTTLED", "slow down");
  sends.failNext(2, error);
  for (let i = 0; i < 2; i++) await expect(sender.send(envelope(), "out", signal)).rejects.toBe(error);
  await sender.send(envelope(), "out", signal);
  sends.failNext(Infinity, error);
  await expect(sender.send(envelope(), "out", signal)).rejects.toBe(error);
  sends.clear();
  await sender.send(envelope(), "out", signal);
  expect(hub.channel("out").arrived).toBe(2);
});

test("sends can be held up until they are let go or aborted", async () => {
  const hub = memoryHub();
  const channel = hub.channel("out");
  const sender = parts(hub).sender();
  const aborted = new AbortController();
  using hold = channel.sends.hold();
  const given = sender.send(envelope({ id: "given up" }), "out", aborted.signal);
  const kept = sender.send(envelope({ id: "kept" }), "out", signal);
  await channel.until(() => channel.sends.held === 2, signal);
  aborted.abort(new Error("given up"));
  await expect(given).rejects.toThrow("given up");
  hold[Symbol.dispose]();
  await kept;
  expect(channel.messages()).toMatchObject([{ id: "kept" }]);
});

test("the hub has no more channels than it may have", async () => {
  const hub = memoryHub({ maxChannels: 2 });
  const sender = parts(hub).sender();
  for (const address of ["a", "b", "a"]) await sender.send(envelope(), address, signal);
  await expect(sender.send(envelope(), "c", signal)).rejects.toMatchObject({ code: "UNAVAILABLE" });
});
