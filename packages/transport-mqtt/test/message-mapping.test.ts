import { RESERVED } from "@bridge/ports";
import fc from "fast-check";
import type { IPublishPacket } from "mqtt-packet";
import { describe, expect, test } from "vitest";
import { decodeCorrelation, encodeCorrelation } from "../src/correlation.ts";
import { inbound as received, sourceMessage } from "../src/inbound-message.ts";
import { publishProperties } from "../src/outbound-message.ts";
import { envelope } from "./support/parts.ts";

type Properties = NonNullable<IPublishPacket["properties"]>;

const NOW = 1_000_000;
const now = (): number => NOW;

function packet(fields: Partial<IPublishPacket> = {}): IPublishPacket {
  return { cmd: "publish", topic: "t", payload: Buffer.from("p"), qos: 1, dup: false, retain: false, ...fields };
}

function inbound(fields: Partial<IPublishPacket>) {
  return sourceMessage(packet(fields), "message-id", now);
}

function outbound(fields: Parameters<typeof envelope>[0]) {
  const { userProperties, ...rest } = publishProperties(envelope(fields), "message-id", now);
  const pairs: [string, string][] = [];
  for (let i = 0; i < userProperties.length; i += 2) pairs.push([userProperties[i]!, userProperties[i + 1]!]);
  return { ...rest, user: pairs };
}

describe("a message that comes in", () => {
  test.each<[string, object]>([
    ["contentType", { contentType: ["a", "b"] }],
    ["responseTopic", { responseTopic: ["a", "b"] }],
    ["correlationData", { correlationData: "text" }],
    ["messageExpiryInterval", { messageExpiryInterval: -1 }],
    ["userProperties", { userProperties: { tenant: "acme", device: null } }],
  ])("cannot be decoded when %s makes no sense, and keeps all other properties", (name, senseless) => {
    const properties = { userProperties: { tenant: "acme", "message-id": "m7" }, ...senseless } as Properties;
    const { message, undecodable } = received(packet({ properties }), "message-id", now);
    expect(undecodable).toMatchObject({ code: "INVALID_PAYLOAD", message: expect.stringMatching(name) as string });
    expect(message).toMatchObject({ subject: "t", payload: Buffer.from("p") });
    expect({ ...message.headers }).toEqual({ tenant: "acme" });
    if (name !== "userProperties") expect(message.id).toBe("m7");
  });

  test("is its topic and payload when it has no properties", () => {
    expect(inbound({})).toEqual({ subject: "t", payload: Buffer.from("p"), headers: undefined });
  });

  test("has its properties where the table says", () => {
    const properties = {
      contentType: "text/plain",
      responseTopic: "reply/here",
      correlationData: Buffer.from("c-1"),
      messageExpiryInterval: 60,
      userProperties: { "message-id": "m-1", "ordering-key": "k", "dedup-id": "d", Colour: "red" },
    };
    const { headers, ...rest } = inbound({ properties });
    expect(rest).toEqual({
      id: "m-1",
      subject: "t",
      payload: Buffer.from("p"),
      contentType: "text/plain",
      correlationId: "c-1",
      orderingKey: "k",
      dedupId: "d",
      expiresAt: NOW + 60_000,
    });
    expect({ ...headers }).toEqual({ colour: "red", "mqtt.response-topic": "reply/here" });
  });

  test("says that it was retained, and that it may have been handed out before", () => {
    expect({ ...inbound({ retain: true, dup: true }).headers }).toEqual({ "mqtt.retain": "true", "mqtt.dup": "true" });
    expect({ ...inbound({ dup: true, properties: {} }).headers }).toEqual({ "mqtt.dup": "true" });
  });

  test("has one header for a property that is repeated, or written in different letter cases", () => {
    const userProperties = { a: ["1", "2"], A: "3", "message-id": ["first", "second"] };
    const { headers, id } = inbound({ properties: { userProperties } });
    expect({ ...headers }).toEqual({ a: "1, 2, 3", "message-id": "second" });
    expect(id).toBe("first");
  });

  test("finding 6.11: has what acts in any letter case; what does not act is a header", () => {
    const userProperties = { "Ordering-Key": "k", "DEDUP-ID": "d", "Message-Id": "other", "message-id": "m" };
    const { headers, id, orderingKey, dedupId } = inbound({ properties: { userProperties } });
    expect([id, orderingKey, dedupId, { ...headers }]).toEqual(["m", "k", "d", { "message-id": "other" }]);
  });

  test("brings no reserved header and no sign of another message's in", () => {
    const userProperties = {
      "X-Bridge.Generated-Id": "true",
      "x-bridge.ordering-key": "k",
      "mqtt.retain": "true",
      "MQTT.Dup": "true",
      "mqtt.response-topic": "x",
    };
    expect({ ...inbound({ properties: { userProperties } }).headers }).toEqual({});
  });

  test("cannot reach a prototype by the name of a property", () => {
    const userProperties = Object.assign(Object.create(null) as Record<string, string>, {
      ["__proto__"]: "x",
      constructor: "y",
    });
    const { headers = {} } = inbound({ properties: { userProperties } });
    expect("toString" in headers).toBe(false);
    expect(headers["__proto__"]).toBe("x");
    expect(headers["constructor"]).toBe("y");
  });
});

describe("a message that goes out", () => {
  test("carries what the table says", () => {
    const headers = {
      colour: "red",
      "mqtt.response-topic": "reply/here",
      "mqtt.retain": "true",
      "mqtt.dup": "true",
      [RESERVED.orderingKey]: "k",
      [RESERVED.dedupId]: "d",
      [RESERVED.generatedId]: "true",
      [RESERVED.causationId]: "m-0",
    };
    expect(
      outbound({ id: "m-1", headers, correlationId: "c-1", contentType: "text/plain", expiresAt: NOW + 1_500 }),
    ).toEqual({
      contentType: "text/plain",
      responseTopic: "reply/here",
      correlationData: Buffer.from("c-1"),
      messageExpiry: 2,
      user: [
        ["message-id", "m-1"],
        ["ordering-key", "k"],
        ["dedup-id", "d"],
        ["colour", "red"],
        [RESERVED.causationId, "m-0"],
      ],
    });
  });

  test("carries no correlation data when it is the id, and nothing that is empty", () => {
    const { correlationData, contentType, messageExpiry } = outbound({});
    expect([correlationData, contentType, messageExpiry]).toEqual([undefined, undefined, undefined]);
  });

  test("finding 6.11: has one id, beside which a header of its name has capitals", () => {
    const given = { "message-id": "other", "ordering-key": "x", "dedup-id": "y", [RESERVED.dedupId]: "d" };
    const { user } = outbound({ id: "m-1", headers: given });
    expect(user).toEqual([
      ["message-id", "m-1"],
      ["dedup-id", "d"],
      ["Message-Id", "other"],
      ["ordering-key", "x"],
      ["Dedup-Id", "y"],
    ]);
  });

  test.each([
    ["a header that is too long", { headers: { long: "x".repeat(65_536) } }, /the header "long" is longer/],
    ["a header name that is too long", { headers: { ["x".repeat(65_536)]: "" } }, /the header "x{100}" is longer/],
    ["an id with a null character", { id: "a\0b" }, /the id holds/],
    ["a content type in two lines", { contentType: "a\nb" }, /the content type holds/],
    ["a response topic that is a pattern", { headers: { "mqtt.response-topic": "a/#" } }, /is no topic: it holds/],
    ["a correlation id that is too long", { correlationId: "x".repeat(65_536) }, /the correlation id is longer/],
  ])("is rejected for %s", (_what, fields, message) => {
    const attempt = () => outbound(fields);
    expect(attempt).toThrow(message);
    expect(attempt).toThrow(expect.objectContaining({ code: "INVALID_PAYLOAD", class: "rejected" }));
  });

  test("carries characters that MQTT does not allow in a header percent-encoded", () => {
    const headers = { tab: "a\tb", "na\u0085me": "\uFFFE", half: "\ud800", "100%": "é" };
    expect(outbound({ id: "m-1", headers }).user).toEqual([
      ["message-id", "m-1"],
      ["tab", "a%09b"],
      ["na%C2%85me", "%EF%BF%BE"],
      ["half", "\uFFFD"],
      ["100%", "é"],
    ]);
  });

  test("names no value in its error", () => {
    const attempt = () => outbound({ headers: { long: `secret-value${"x".repeat(65_536)}` } });
    expect(attempt).toThrow(/^(?!.*secret-value)/);
  });

  test("has expired when its time is over", () => {
    expect(() => outbound({ expiresAt: NOW })).toThrow(expect.objectContaining({ code: "MESSAGE_EXPIRED" }));
  });
});

describe("correlation data", () => {
  test("comes out of a bridge as it went in, whatever its bytes", () => {
    const tricky = fc
      .constantFrom("base64:", "base64:AAAA", "base64:not base64", "base64:AAA=")
      .map((text) => Buffer.from(text));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
          tricky,
        ),
        (data) => {
          expect(encodeCorrelation(decodeCorrelation(data)).equals(data)).toBe(true);
        },
      ),
    );
  });

  test("is text where it is UTF-8, and marked where it is not", () => {
    expect(decodeCorrelation(Buffer.from("Zürich"))).toBe("Zürich");
    expect(decodeCorrelation(Buffer.of(0xff, 0x00))).toBe("base64:/wA=");
    expect(encodeCorrelation("base64:no, this is text").toString()).toBe("base64:no, this is text");
  });
});
