import { type Envelope, RESERVED } from "@bridge/ports";
import { cpuTime } from "@bridge/tooling/cpu-time";
import { MsgHdrsImpl } from "@nats-io/transport-node";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseAckSubject } from "../src/ack-subject.ts";
import { inbound as inboundOf } from "../src/inbound-message.ts";
import { outboundHeaders } from "../src/outbound-headers.ts";
import { envelope } from "./support/parts.ts";

const INFO = { stream: "S", deliveryCount: 1, sequence: 7, place: "7", timestamp: "1795286097811774777" };
const NOW = Date.UTC(2026, 0, 31);
const CRLF = Buffer.from("\r\n");

function inbound(fields: readonly (readonly [name: string, value: string])[], info = INFO) {
  return readBlock(`NATS/1.0\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`, info).message;
}

/** A message with this block of headers. */
function readBlock(block: string | Uint8Array, info = INFO) {
  const headers = Buffer.from(block);
  return inboundOf("a.b", { bytes: Buffer.concat([headers, Buffer.from("x")]), headerLength: headers.length }, info);
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

  test("finding 6.11: has of names in several letter cases the bridges' own; what does not act is a header", () => {
    const fields = [
      ["Ordering-Key", "a"],
      ["ordering-key", "b"],
      ["Ordering-Key", "c"],
      ["nats-msg-id", "x"],
      ["Nats-Msg-Id", "y"],
      ["dedup-id", "z"],
    ] as const;
    const { orderingKey, dedupId, headers } = inbound(fields);
    expect([orderingKey, dedupId]).toEqual(["b", "y"]);
    expect(headers).toMatchObject({ "ordering-key": "a, c", "dedup-id": "z" });
  });

  test.each(["tomorrow", "2026-02-31T00:00:00Z", "2026-01-31"])(
    "finding 6.12: that expires at %j cannot be decoded",
    (time) => {
      const { undecodable } = readBlock(`NATS/1.0\r\nExpires-At: ${time}\r\n\r\n`);
      expect([undecodable?.code, undecodable?.message]).toEqual([
        "INVALID_PAYLOAD",
        expect.stringContaining("expires-at"),
      ]);
    },
  );

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

  test("finding 1.1: blanks inside a value, and marks in a name, are read in proportion to their number", async () => {
    const fields = [
      ["blank", `a${" ".repeat(500_000)}b`],
      [`x${"\u0315\u0316".repeat(100_000)}`, "1"],
    ] as const;
    const spent = await cpuTime(() => expect(inbound(fields).headers?.["blank"]).toHaveLength(500_002));
    // It took minutes when it took the square.
    expect(spent).toBeLessThan(10_000);
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

describe("finding 1.2: a message whose headers no library would write", () => {
  test.each([
    ["my name: v", { "my name": "v" }],
    ["Größe: v", { größe: "v" }],
    ["__proto__: v", { ["__proto__"]: "v" }],
    ["a\0b: c\0d", { "a\0b": "c\0d" }],
    ["a: one\ntwo\rthree", { a: "one\ntwo\rthree" }],
    [": v", { "": "v" }],
    ["a:", { a: "" }],
    ["a:b:c", { a: "b:c" }],
  ])("arrives with them: %j", (line, headers) => {
    const { message, undecodable } = readBlock(`NATS/1.0\r\n${line}\r\n\r\n`);
    expect(undecodable).toBeUndefined();
    expect(message.headers).toEqual({ ...headers, "nats.stream": "S", "nats.sequence": "7" });
    expect(message.payload).toEqual(Buffer.from("x"));
  });

  test("has a value that is not UTF-8 as base64, and the others as they are", () => {
    const block = Buffer.concat([Buffer.from("NATS/1.0\r\nort: Zürich\r\nraw: "), Buffer.of(0xc3, 0x28), CRLF, CRLF]);
    expect(readBlock(block).message.headers).toMatchObject({ ort: "Zürich", raw: "base64:wyg=" });
  });

  test("has a status that the server never said: it is no header", () => {
    expect(readBlock("NATS/1.0 503 no\r\na: b\r\n\r\n").message.headers).toMatchObject({ a: "b" });
  });

  test.each([
    ["no colon", Buffer.from("NATS/1.0\r\nno colon\r\n\r\n")],
    [
      "a name that is not UTF-8",
      Buffer.concat([Buffer.from("NATS/1.0\r\n"), Buffer.of(0xff), Buffer.from(": v\r\n\r\n")]),
    ],
    ["another version", Buffer.from("HTTP/1.1\r\na: b\r\n\r\n")],
  ])("is undecodable, with all of its bytes: %s", (_what, block) => {
    const { message, undecodable } = readBlock(block);
    expect(undecodable).toMatchObject({ code: "INVALID_PAYLOAD" });
    expect(message).toMatchObject({
      id: "S:7:1795286097811774777",
      subject: "a.b",
      payload: Buffer.concat([block, Buffer.from("x")]),
    });
  });
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
    const headers = Object.fromEntries([...words, "nats.stream"].map((name) => [name, "all"]));
    expect(outbound({ correlationId: "id", headers })).toEqual({ "message-id": "id" });
  });

  test("finding 1.11: has a header that is called like a part of it, or that has no name, among those that NATS cannot carry", () => {
    const headers = {
      "message-id": "not the id",
      "correlation-id": "c",
      "content-type": "t",
      "expires-at": "now",
      "more-headers": "m",
      ["__proto__"]: "p",
      "": "nameless",
    };
    const sent = outbound({ correlationId: "id", headers });
    expect(sent).toEqual({ "message-id": "id", ["__proto__"]: "p", "more-headers": expect.any(String) as string });
    const { id, correlationId, contentType, headers: back } = inbound(Object.entries(sent));
    expect([id, correlationId, contentType]).toEqual(["id", undefined, undefined]);
    expect(back).toEqual({ ...headers, "nats.stream": "S", "nats.sequence": "7" });
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
        const { headers = {} } = readBlock(outboundHeaders(envelope({ headers: lower }), undefined, NOW)).message;
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
