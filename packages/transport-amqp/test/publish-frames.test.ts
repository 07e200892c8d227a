import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PublishFields } from "../src/channel-publish.ts";
import { type MessageWriter, publishDirectly } from "../src/direct-publish.ts";
import { publishFrames } from "../src/publish-frames.ts";
import { MAX_SHORT_BYTES } from "../src/short-string.ts";

// The library does not export them, but they are what its connections encode with.
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

/** What the library writes for the same message. */
function asTheLibrary(channel: number, fields: PublishFields, payload: Buffer, frameMax: number): Buffer {
  const written: Buffer[] = [];
  const { sendMessage, sendContent } = Connection.prototype;
  const buffer = { write: (bytes: Buffer) => written.push(bytes) };
  const connection = { frameMax, channels: { [channel]: { buffer } }, sendContent };
  sendMessage.call(connection, channel, BasicPublish, fields, BasicProperties, fields, payload);
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
  timestamp: fc.option(fc.integer({ min: 0, max: 2 ** 40 }), { nil: undefined }),
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
  it("are the bytes that the library writes", () => {
    const channels = fc.integer({ min: 1, max: 65_535 });
    fc.assert(
      fc.property(channels, messages, fc.uint8Array({ maxLength: 200 }), (channel, fields, payload) => {
        const bytes = Buffer.from(payload);
        expect(publishFrames(channel, fields, bytes, 4_096)).toEqual(asTheLibrary(channel, fields, bytes, 4_096));
      }),
    );
  });

  it.each([0, 1, 4_087, 4_088, 4_089, 8_176, 8_177, 50_000])(
    "split a payload of %i bytes as the library does",
    (size) => {
      const payload = Buffer.alloc(size, "payload");
      expect(publishFrames(1, PLAIN, payload, 4_096)).toEqual(asTheLibrary(1, PLAIN, payload, 4_096));
    },
  );

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
      timestamp: 2 ** 40,
    };
    const payload = Buffer.from("payload");
    expect(publishFrames(1, fields, payload, 131_072)).toEqual(asTheLibrary(1, fields, payload, 131_072));
  });
});

describe("publishDirectly", () => {
  it("hands each message to the socket whole and in its place, and those of a turn leave together", async () => {
    const written: Buffer[][] = [];
    const socket = new Writable({
      writev: (chunks, done) => {
        written.push(chunks.map(({ chunk }) => chunk as Buffer));
        done();
      },
    });
    const connection: MessageWriter = {
      frameMax: 4_096,
      stream: socket,
      sendBytes: (bytes) => void socket.write(bytes),
      sendMessage: () => expect.fail("the library's own way"),
    };
    publishDirectly(connection);
    const payload = Buffer.alloc(10_000);
    const send = (channel: number): void =>
      connection.sendMessage(channel, BasicPublish, PLAIN, BasicProperties, PLAIN, payload);
    send(7);
    await Promise.resolve();
    socket.write(Buffer.from("what the library writes"));
    send(8);
    expect(written).toEqual([]);
    await turn();
    send(9);
    await turn();
    expect(written).toEqual([
      [
        publishFrames(7, PLAIN, payload, 4_096),
        Buffer.from("what the library writes"),
        publishFrames(8, PLAIN, payload, 4_096),
      ],
      [publishFrames(9, PLAIN, payload, 4_096)],
    ]);
  });
});
