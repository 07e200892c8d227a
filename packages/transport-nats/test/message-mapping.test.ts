import { type Envelope, RESERVED } from "@bridge/ports";
import { headers as newHeaders, type Msg, MsgHdrsImpl } from "@nats-io/transport-node";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAckSubject } from "../src/ack-subject.ts";
import { sourceMessage } from "../src/inbound-message.ts";
import { outboundHeaders } from "../src/outbound-headers.ts";
import { envelope } from "./support/parts.ts";

const INFO = { stream: "S", deliveryCount: 1, sequence: 7, place: "7", timestamp: "1795286097811774777" };
const NOW = Date.UTC(2026, 0, 31);

function inbound(fields: readonly (readonly [name: string, value: string])[], info = INFO) {
  const headers = newHeaders();
  for (const [name, value] of fields) headers.append(name, value);
  const message = { subject: "a.b", data: Buffer.from("x"), headers } as unknown as Msg;
  return sourceMessage(message, info);
}

/** What a client reads of the headers that are written for an envelope. */
function outbound(fields: Partial<Envelope>, stream?: string): Readonly<Record<string, string>> {
  const read = MsgHdrsImpl.decode(outboundHeaders(envelope({ id: "id", ...fields }), stream, NOW));
  return Object.fromEntries(Array.from(read, ([name, values]) => [name, values.join("|")]));
}

describe("a message from a stream", () => {
  test("has its parts from headers, in any letter case", () => {
    const fields = [
      ["Message-Id", "m"],
      ["CORRELATION-ID", "c"],
      ["Content-Type", "text/plain"],
      ["Ordering-Key", "k"],
      ["nats-msg-id", "d"],
      ["Expires-At", "2026-02-01T00:00:00Z"],
      ["Site", "Zürich"],
    ] as const;
    expect(inbound(fields)).toEqual({
      id: "m",
      subject: "a.b",
      payload: Buffer.from("x"),
      headers: { site: "Zürich", "nats.stream": "S", "nats.sequence": "7" },
      contentType: "text/plain",
      correlationId: "c",
      dedupId: "d",
      orderingKey: "k",
      expiresAt: Date.UTC(2026, 1, 1),
    });
  });

  test("without an id has its place in the stream for one, which stays the same when it comes again", () => {
    const again = inbound([], { ...INFO, deliveryCount: 2 });
    expect(inbound([]).id).toBe("S:7:1795286097811774777");
    expect(again.id).toBe("S:7:1795286097811774777");
    expect(again.headers).toMatchObject({ "nats.redelivered": "true" });
  });

  test("keeps several values of one name, and what differs in letter case only", () => {
    const fields = [
      ["Tag", "a"],
      ["Tag", "b"],
      ["tag", "c"],
    ] as const;
    expect(inbound(fields).headers).toMatchObject({ tag: "a, b, c" });
  });

  test("has no headers that are the bridge's, the server's, or say where it comes from", () => {
    const fields = [
      ["X-Bridge.Generated-Id", "true"],
      ["Nats-Expected-Last-Sequence", "1"],
      ["nats.stream", "other"],
      [
        "more-headers",
        JSON.stringify({ "x-bridge.causation-id": "c", "Nats-Rollup": "all", "nats.sequence": "1", Plain: "p" }),
      ],
    ] as const;
    expect(inbound(fields).headers).toEqual({ plain: "p", "nats.stream": "S", "nats.sequence": "7" });
  });

  test.each(["no json", "[1]", '{"a":1}', "null"])("has somebody else's more-headers as a header: %s", (more) => {
    expect(inbound([["more-headers", more]]).headers).toMatchObject({ "more-headers": more });
  });

  test.each(["tomorrow", "2026", "2026-99-01T00:00:00Z"])(
    "never expires because of an expiry that is no time: %s",
    (text) => {
      expect(inbound([["expires-at", text]]).expiresAt).toBeUndefined();
    },
  );
});

describe("a message to a stream", () => {
  test("has its parts in headers, and what the server is told", () => {
    const fields = {
      correlationId: "c",
      contentType: "text/plain",
      expiresAt: NOW + 1_000,
      headers: {
        [RESERVED.dedupId]: "d",
        [RESERVED.orderingKey]: "k",
        [RESERVED.causationId]: "before",
        site: "Zürich",
      },
    };
    expect(outbound(fields, "S")).toEqual({
      "message-id": "id",
      "correlation-id": "c",
      "content-type": "text/plain",
      "expires-at": "2026-01-31T00:00:01.000Z",
      "ordering-key": "k",
      "Nats-Msg-Id": "d",
      "Nats-Expected-Stream": "S",
      "x-bridge.causation-id": "before",
      site: "Zürich",
    });
  });

  test("tells the server nothing that a header says", () => {
    const words = ["nats-rollup", "nats-msg-id", "nats-expected-last-sequence", "nats-ttl", "nats-schedule"];
    const own = ["message-id", "more-headers", "nats.stream", "expires-at"];
    const headers = Object.fromEntries([...words, ...own].map((name) => [name, "all"]));
    expect(outbound({ correlationId: "id", headers })).toEqual({ "message-id": "id" });
  });

  test.each(["two\r\nlines", " outer", "outer\t", "\0", "\ud800"])(
    "does not alter an identity to make it fit: %j",
    (id) => {
      for (const fields of [{ id }, { correlationId: id }, { headers: { [RESERVED.dedupId]: id } }])
        expect(() => outbound(fields)).toThrow(/a character that NATS does not carry/);
    },
  );

  test("that has expired is not sent, one that never does for all we know has no expiry", () => {
    expect(() => outbound({ expiresAt: NOW })).toThrow("the message's expiry had passed");
    expect(outbound({ correlationId: "id", expiresAt: 1e16 })).toEqual({ "message-id": "id" });
  });
});

test("whatever headers a message has arrive as they were", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1 }).map((text) => `a${text.toLowerCase()}`);
  const taken = /^(?:a__proto__)$/;
  fc.assert(
    fc.property(
      fc.dictionary(
        name.filter((text) => !taken.test(text)),
        fc.string({ unit: "binary" }),
      ),
      (given) => {
        const lower = Object.fromEntries(Object.entries(given).map(([key, value]) => [key.toLowerCase(), value]));
        const read = MsgHdrsImpl.decode(outboundHeaders(envelope({ headers: lower }), undefined, NOW));
        const { headers = {} } = sourceMessage(
          { subject: "a", data: Buffer.of(), headers: read } as unknown as Msg,
          INFO,
        );
        const { "nats.stream": _stream, "nats.sequence": _sequence, ...arrived } = headers;
        expect({ ...arrived }).toEqual(lower);
      },
    ),
  );
});

describe("the subject that a message is settled on", () => {
  test.each([
    ["$JS.ACK.S.c.3.17.5.1795286097811774777.0", { ...INFO, deliveryCount: 3, sequence: 17, place: "17" }],
    [
      "$JS.ACK.hub.ACCOUNT.S.c.3.17.5.1795286097811774777.0.token",
      { ...INFO, deliveryCount: 3, sequence: 17, place: "17" },
    ],
    ["$JS.ACK._.ACCOUNT.S.c.3.17.5.1795286097811774777.0", { ...INFO, deliveryCount: 3, sequence: 17, place: "17" }],
    ["$JS.ACK.S.c.0.17.5.1.0", undefined],
    ["$JS.ACK.S.c.x.17.5.1.0", undefined],
    ["$JS.ACK.S.c.1.17.5.1", undefined],
    ["_INBOX.a", undefined],
    ["", undefined],
  ])("%s", (subject, info) => {
    expect(parseAckSubject(subject)).toEqual(info);
  });
});
