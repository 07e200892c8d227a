import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PublishFields, publishFrames } from "../src/codec/publish-frames.ts";
import { MAX_SHORT_BYTES } from "../src/short-string.ts";

// An independent witness: amqplib does not export them, but they are what its connections encode with.
const load = createRequire(import.meta.url);
const library = dirname(load.resolve("amqplib"));
const { Connection } = load(join(library, "lib/connection.js")) as {
  Connection: {
    readonly prototype: {
      readonly sendMessage: (this: object, ...parameters: unknown[]) => void;
      readonly sendContent: unknown;
    };
  };
};
const { BasicPublish, BasicProperties } = load(join(library, "lib/defs.js")) as Record<string, number>;

/** What amqplib writes for the same message. */
function asAmqplib(channel: number, fields: PublishFields, payload: Buffer, frameMax: number): Buffer {
  const written: Buffer[] = [];
  const { sendMessage, sendContent } = Connection.prototype;
  const buffer = { write: (bytes: Buffer) => written.push(bytes) };
  const connection = { frameMax, channels: { [channel]: { buffer } }, sendContent };
  const same = { ...fields, timestamp: fields.timestamp === undefined ? undefined : Number(fields.timestamp) };
  sendMessage.call(connection, channel, BasicPublish, same, BasicProperties, same, payload);
  return Buffer.concat(written);
}

const short = fc.string({ unit: "grapheme" }).filter((text) => Buffer.byteLength(text) <= MAX_SHORT_BYTES);
const maybeShort = fc.option(short, { nil: undefined });
const messages = fc.record<PublishFields>({
  exchange: short,
  routingKey: short,
  mandatory: fc.boolean(),
  deliveryMode: fc.constantFrom(1, 2),
  headers: fc.dictionary(
    short.filter((name) => name !== "__proto__"),
    fc.string({ unit: "grapheme" }),
  ),
  messageId: short,
  contentType: maybeShort,
  contentEncoding: maybeShort,
  priority: fc.option(fc.integer({ min: 0, max: 255 }), { nil: undefined }),
  correlationId: maybeShort,
  replyTo: maybeShort,
  expiration: maybeShort,
  timestamp: fc.option(fc.bigInt({ min: 0n, max: 2n ** 40n }), { nil: undefined }),
  type: maybeShort,
  appId: maybeShort,
});

const PLAIN: PublishFields = {
  exchange: "",
  routingKey: "queue",
  mandatory: true,
  deliveryMode: 2,
  headers: {},
  messageId: "1",
  contentType: undefined,
  contentEncoding: undefined,
  priority: undefined,
  correlationId: undefined,
  replyTo: undefined,
  expiration: undefined,
  timestamp: undefined,
  type: undefined,
  appId: undefined,
};

describe("publishFrames", () => {
  it("are the bytes that amqplib writes", () => {
    const channels = fc.integer({ min: 1, max: 65_535 });
    fc.assert(
      fc.property(channels, messages, fc.uint8Array({ maxLength: 200 }), (channel, fields, payload) => {
        const bytes = Buffer.from(payload);
        expect(publishFrames(channel, fields, bytes, 4_096)).toEqual(asAmqplib(channel, fields, bytes, 4_096));
      }),
    );
  });

  it.each([0, 1, 4_087, 4_088, 4_089, 8_176, 8_177, 50_000])("split a payload of %i bytes as amqplib does", (size) => {
    const payload = Buffer.alloc(size, "payload");
    expect(publishFrames(1, PLAIN, payload, 4_096)).toEqual(asAmqplib(1, PLAIN, payload, 4_096));
  });

  it("hold the largest headers together with the longest of everything else", () => {
    const longest = "x".repeat(MAX_SHORT_BYTES);
    const properties = ["contentType", "contentEncoding", "correlationId", "replyTo", "expiration", "type", "appId"];
    const fields: PublishFields = {
      ...PLAIN,
      ...Object.fromEntries(properties.map((name) => [name, longest])),
      exchange: longest,
      routingKey: longest,
      messageId: longest,
      headers: { header: "x".repeat(65_518) },
      priority: 255,
      timestamp: 2n ** 40n,
    };
    const payload = Buffer.from("payload");
    expect(publishFrames(1, fields, payload, 131_072)).toEqual(asAmqplib(1, fields, payload, 131_072));
  });
});
