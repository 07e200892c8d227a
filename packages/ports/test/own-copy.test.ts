import { expect, test } from "vitest";
import { type Envelope, type OutboxRecord } from "../src/index.ts";
import { ownCopy, payloadBytes } from "../src/internal.ts";

function record(envelope: Uint8Array, received?: Uint8Array): OutboxRecord {
  const of = (payload: Uint8Array): Envelope => ({
    id: "m",
    sourceId: "s",
    subject: "",
    contentType: "",
    headers: {},
    payload,
    correlationId: "m",
    receivedAt: 0,
  });
  return {
    id: "r",
    routeId: "route",
    bindingId: "binding",
    address: "",
    envelope: of(envelope),
    ...(received !== undefined && { received: of(received) }),
    payloadDigest: "",
    createdAt: 0,
  };
}

test("a copy of a record keeps what its source's bytes were, and shares what the record shares", () => {
  const bytes = Buffer.from("abc");
  const original = record(bytes, bytes);
  const copy = ownCopy(original);
  bytes.write("xyz");
  expect(Buffer.from(copy.envelope.payload).toString()).toBe("abc");
  expect(copy.received?.payload).toBe(copy.envelope.payload);
  expect(payloadBytes(copy)).toBe(3);
});

test("a copy keeps no memory but its own", () => {
  const [sent, received] = [Buffer.from("abcd"), Buffer.from("ab")];
  const copy = ownCopy(record(sent, received));
  for (const { payload } of [copy.envelope, copy.received!]) expect(payload.buffer.byteLength).toBe(payload.length);
});

test("a payload that a processor has changed is counted and copied beside the one that was received", () => {
  const [sent, received] = [Buffer.from("abcd"), Buffer.from("ab")];
  const copy = ownCopy(record(sent, received));
  for (const bytes of [sent, received]) bytes.fill(0);
  expect([copy.envelope, copy.received].map((one) => Buffer.from(one!.payload).toString())).toEqual(["abcd", "ab"]);
  expect(payloadBytes(copy)).toBe(6);
});
