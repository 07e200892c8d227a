import type { Message } from "@aws-sdk/client-sqs";
import { RESERVED } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inboundMessage } from "../../src/message/inbound-message.ts";
import { MAX_BYTES, outboundMessage, type OutboundMessage } from "../../src/message/outbound-message.ts";
import { envelope } from "../support/parts.ts";

const STANDARD = { fifo: false };
const FIFO = { fifo: true, groupId: "rest" };

/** What a queue would hand out of what was sent to it. */
function handedOut({ entry }: OutboundMessage): Message {
  return {
    MessageId: "sqs-1",
    Body: entry.MessageBody,
    MessageAttributes: entry.MessageAttributes,
    Attributes: {
      ...(entry.MessageGroupId !== undefined && { MessageGroupId: entry.MessageGroupId }),
      ...(entry.MessageDeduplicationId !== undefined && { MessageDeduplicationId: entry.MessageDeduplicationId }),
    },
  };
}

const carried = fc.string({ unit: "grapheme", maxLength: 30 }).filter((text) => !/[\p{Cc}\ufffe\uffff]/u.test(text));
const name = fc.stringMatching(/^[a-z0-9._-]{1,20}$/).filter((text) => !text.startsWith("x-bridge."));
const anyText = fc.string({ unit: "binary", maxLength: 30 });

test("finding 6.11: what acts does in any letter case, what is in lower case before others, and the rest are headers", () => {
  const attributes = {
    "Ordering-Key": "k",
    "Dedup-Id": "d",
    "DEDUP-ID": "D",
    "Message-Id": "other",
    "message-id": "m",
    Site: "a",
    site: "b",
  };
  const MessageAttributes = Object.fromEntries(
    Object.entries(attributes).map(([key, StringValue]) => [key, { DataType: "String", StringValue }]),
  );
  const { message } = inboundMessage({ Body: "x", MessageAttributes }, false);
  expect(message).toMatchObject({ id: "m", orderingKey: "k", dedupId: "D" });
  expect({ ...message.headers }).toEqual({ "message-id": "other", "dedup-id": "d", site: "a, b" });
});

describe("a message through SQS", () => {
  test("comes out as it went in, whatever it holds", () => {
    fc.assert(
      fc.property(
        fc.record({
          id: carried.filter((text) => text !== ""),
          payload: fc.oneof(
            fc.uint8Array({ maxLength: 200 }),
            anyText.map((text) => Buffer.from(text)),
          ),
          subject: carried,
          contentType: carried,
          headers: fc.dictionary(
            fc.oneof(
              name,
              anyText.filter((text) => text !== ""),
            ),
            anyText,
            { maxKeys: 30 },
          ),
          dedupId: fc.option(carried.filter((text) => text !== "")),
          orderingKey: fc.option(carried.filter((text) => text !== "")),
          fifo: fc.boolean(),
        }),
        ({ id, payload, subject, contentType, headers, dedupId, orderingKey, fifo }) => {
          const plain = Object.fromEntries(
            Object.entries(headers).filter(
              ([key]) => !/^x-bridge\./i.test(key.normalize("NFKD")) && key === key.toLowerCase(),
            ),
          );
          const sent = envelope({
            id,
            payload,
            subject,
            contentType,
            headers: {
              ...plain,
              ...(dedupId !== null && { [RESERVED.dedupId]: dedupId }),
              ...(orderingKey !== null && { [RESERVED.orderingKey]: orderingKey }),
            },
          });
          const outbound = outboundMessage(sent, fifo ? FIFO : STANDARD);
          expect(Object.keys(outbound.entry.MessageAttributes ?? {}).length).toBeLessThanOrEqual(10);
          const { message, undecodable } = inboundMessage(handedOut(outbound), fifo);
          expect(undecodable).toBeUndefined();
          expect(Buffer.from(message.payload).equals(payload)).toBe(true);
          expect({ ...message.headers }).toEqual({ ...plain });
          expect(message).toMatchObject({ id, subject });
          expect(message.contentType ?? "").toBe(contentType);
          expect(message.orderingKey).toBe(orderingKey ?? (fifo ? "rest" : undefined));
          // In a FIFO queue an id that stands for deduplication too is said once.
          expect(message.dedupId ?? id).toBe(dedupId ?? id);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("is text when the payload is, and base64 when it is not", () => {
    const body = (payload: Uint8Array): string | undefined =>
      outboundMessage(envelope({ payload }), STANDARD).entry.MessageBody;
    expect(body(Buffer.from('{"t":"21 °C"}\n'))).toBe('{"t":"21 °C"}\n');
    expect(body(Buffer.from([0xc3, 0x28]))).toBe("wyg=");
    expect(body(Buffer.from("bell \u0007"))).toBe(Buffer.from("bell \u0007").toString("base64"));
    expect(body(new Uint8Array())).toBe("-");
  });

  test("has attributes of their own for the trace context, however many headers there are", () => {
    const headers = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`header-${i}`, "x"]));
    const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1" };
    const { entry } = outboundMessage(envelope({ headers: { ...headers, ...trace } }), STANDARD);
    expect(entry.MessageAttributes).toMatchObject({
      traceparent: { StringValue: trace.traceparent },
      tracestate: { StringValue: "a=1" },
    });
    expect(Object.keys(entry.MessageAttributes ?? {})).toHaveLength(10);
  });

  test("has ten attributes at most: headers beyond them share one", () => {
    const headers = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`h${i}`, `${i}`]));
    const attributes = outboundMessage(envelope({ headers }), STANDARD).entry.MessageAttributes ?? {};
    expect(Object.keys(attributes)).toEqual([
      "message-id",
      "correlation-id",
      "h0",
      "h1",
      "h2",
      "h3",
      "h4",
      "h5",
      "h6",
      "more-headers",
    ]);
    expect(JSON.parse(attributes["more-headers"]?.StringValue ?? "")).toEqual({
      h7: "7",
      h8: "8",
      h9: "9",
      h10: "10",
      h11: "11",
    });
  });

  test("keeps headers that SQS would refuse in the shared attribute", () => {
    const headers = { empty: "", "aws.trace": "1", "a b": "2", bell: "\u0007", subject: "mine", plain: "3" };
    const attributes = outboundMessage(envelope({ headers }), STANDARD).entry.MessageAttributes ?? {};
    expect(Object.keys(attributes)).toEqual(["message-id", "correlation-id", "plain", "more-headers"]);
    const { plain: _, ...rest } = headers;
    expect(JSON.parse(attributes["more-headers"]?.StringValue ?? "")).toEqual(rest);
  });

  test("takes the ordering key for its group, the deduplication id for its own, else the id", () => {
    const keyed = envelope({ id: "e-1", headers: { [RESERVED.orderingKey]: "press-7", [RESERVED.dedupId]: "d-1" } });
    expect(outboundMessage(keyed, FIFO).entry).toMatchObject({
      MessageGroupId: "press-7",
      MessageDeduplicationId: "d-1",
    });
    const bare = outboundMessage(envelope({ id: "e-1" }), FIFO).entry;
    expect(bare).toMatchObject({ MessageGroupId: "rest", MessageDeduplicationId: "e-1" });
    expect(outboundMessage(keyed, STANDARD).entry.MessageGroupId).toBeUndefined();
  });

  test("has hashes where SQS does not allow an id, and the id beside it", () => {
    const long = "press 7 ".repeat(40);
    const sent = outboundMessage(envelope({ headers: { [RESERVED.orderingKey]: long } }), FIFO);
    expect(sent.entry.MessageGroupId).toMatch(/^[0-9a-f]{64}$/);
    expect(inboundMessage(handedOut(sent), true).message.orderingKey).toBe(long);
  });

  test("a key that is not that of its group does not count", () => {
    const received = handedOut(outboundMessage(envelope({ headers: { [RESERVED.orderingKey]: "a" } }), FIFO));
    const forged = { ...received, MessageAttributes: { "ordering-key": { DataType: "String", StringValue: "b" } } };
    expect(inboundMessage(forged, true).message.orderingKey).toBe("a");
  });

  test("a deduplication id that was made of the content says nothing beyond its queue", () => {
    const sha = "239f59ed55e737c77147cf55ad0c1b030b6d7ee748a7426952f9b852d5a935e5"; // of "payload"
    const received = {
      Body: "payload",
      MessageId: "m-1",
      Attributes: { MessageGroupId: "g", MessageDeduplicationId: sha },
    };
    expect(inboundMessage(received, true).message).toMatchObject({ id: "m-1", orderingKey: "g", dedupId: undefined });
  });

  test("without a group in a FIFO queue is refused with the remedy", () => {
    expect(() => outboundMessage(envelope(), { fifo: true })).toThrow(
      expect.objectContaining({
        code: "BINDING_UNRESOLVED",
        message: expect.stringContaining("message_group_id") as string,
      }),
    );
  });

  test("that is too large is refused before it is sent", () => {
    expect(() => outboundMessage(envelope({ payload: Buffer.alloc(MAX_BYTES + 1, "x") }), STANDARD)).toThrow(
      expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }),
    );
    expect(() => outboundMessage(envelope({ payload: Buffer.alloc(800_000) }), STANDARD)).toThrow(
      expect.objectContaining({ code: "PAYLOAD_TOO_LARGE" }),
    );
  });

  test("is not altered where it names things", () => {
    expect(() => outboundMessage(envelope({ id: "a\u0000" }), STANDARD)).toThrow(
      expect.objectContaining({
        code: "INVALID_PAYLOAD",
        message: "the message-id has a character that SQS does not carry",
      }),
    );
  });
});

describe("a message of another program", () => {
  test("needs no attributes: its id is that of SQS", () => {
    const { message } = inboundMessage({ MessageId: "m-1", Body: "hello" }, false);
    expect(message).toMatchObject({ id: "m-1", subject: "", payload: Buffer.from("hello") });
  });

  test("may have numbers and bytes for headers, but none of the bridge's own", () => {
    const { message } = inboundMessage(
      {
        Body: "x",
        MessageAttributes: {
          Price: { DataType: "Number.eur", StringValue: "7" },
          raw: { DataType: "Binary", BinaryValue: Buffer.from([1, 2]) },
          "X-Bridge.dedup-id": { DataType: "String", StringValue: "forged" },
          "more-headers": { DataType: "String", StringValue: '{"x-bridge.ordering-key":"forged","Line":"4"}' },
        },
      },
      false,
    );
    expect({ ...message.headers }).toEqual({ price: "7", raw: "AQI=", line: "4" });
  });

  test.each([
    ["payload-encoding", "gzip"],
    ["payload-encoding", "base64"],
    ["more-headers", "{"],
    ["more-headers", '{"a":1}'],
    ["expires-at", "tomorrow"],
  ])("that says %s: %s is undecodable, and keeps its bytes and all attributes", (attribute, StringValue) => {
    const tenant = { DataType: "String", StringValue: "acme" };
    const MessageAttributes = { [attribute]: { DataType: "String", StringValue }, tenant };
    const { message, undecodable } = inboundMessage({ Body: "no base64!", MessageAttributes }, false);
    expect(undecodable?.code).toBe("INVALID_PAYLOAD");
    expect(Buffer.from(message.payload).toString()).toBe("no base64!");
    expect({ ...message.headers }).toEqual({ [attribute]: StringValue, tenant: "acme" });
  });
});
