import fc from "fast-check";
import { type IPublishPacket, type Packet, parser } from "mqtt-packet";
import { expect, test } from "vitest";
import { encodePublish, type PublishFrame, type PublishHead } from "../src/publish-frame.ts";

function parse(frame: PublishFrame, protocolVersion: 4 | 5): IPublishPacket {
  const packets: Packet[] = [];
  const stream = parser({ protocolVersion });
  stream.on("packet", (packet) => packets.push(packet));
  stream.on("error", (error: Error) => {
    throw error;
  });
  const rest = stream.parse(Buffer.concat(frame.chunks));
  expect(rest).toBe(0);
  expect(packets).toHaveLength(1);
  return packets[0] as IPublishPacket;
}

function withPacketId(frame: PublishFrame, packetId: number): PublishFrame {
  if (frame.packetIdAt >= 0) (frame.chunks[0] as Buffer).writeUInt16BE(packetId, frame.packetIdAt);
  return frame;
}

const string = fc.string({ unit: "grapheme", maxLength: 200 });
const payload = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.constantFrom(0, 127, 128, 8_192, 8_193, 16_384, 70_000).map((length) => new Uint8Array(length).fill(7)),
);
const head: fc.Arbitrary<PublishHead> = fc.record({
  topic: fc.string({ unit: "grapheme", minLength: 1, maxLength: 300 }),
  qos: fc.constantFrom(0, 1),
  retain: fc.boolean(),
});
const properties = fc.record({
  contentType: fc.option(string, { nil: undefined }),
  responseTopic: fc.option(string, { nil: undefined }),
  correlationData: fc.option(
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
    { nil: undefined },
  ),
  messageExpiry: fc.option(fc.integer({ min: 0, max: 0xffff_ffff }), { nil: undefined }),
  userProperties: fc
    .uniqueArray(fc.string({ unit: "grapheme", minLength: 1 }), { maxLength: 20 })
    .chain((names) =>
      fc.tuple(
        ...names.map((name) =>
          fc.tuple(
            fc.constant(name),
            string.filter((value) => value !== ""),
          ),
        ),
      ),
    )
    .map((pairs) => pairs.flat()),
});

test("a PUBLISH is read as it was written (3.1.1)", () => {
  fc.assert(
    fc.property(head, payload, fc.integer({ min: 1, max: 65_535 }), (wanted, bytes, packetId) => {
      const frame = withPacketId(encodePublish(wanted, bytes), packetId);
      const { topic, qos, retain, dup, messageId, payload: read } = parse(frame, 4);
      expect({ topic, qos, retain, dup }).toEqual({ ...wanted, dup: false });
      if (wanted.qos === 1) expect(messageId).toBe(packetId);
      expect(Buffer.compare(read as Buffer, bytes)).toBe(0);
      expect(frame.size).toBe(Buffer.concat(frame.chunks).length);
    }),
  );
});

test("a PUBLISH is read as it was written (5)", () => {
  fc.assert(
    fc.property(head, properties, payload, (wanted, carried, bytes) => {
      const frame = withPacketId(encodePublish({ ...wanted, properties: carried }, bytes), 1);
      const { topic, properties: read = {}, payload: readPayload } = parse(frame, 5);
      const pairs = Object.entries(read.userProperties ?? {}).flat();
      expect(topic).toBe(wanted.topic);
      expect(Buffer.compare(readPayload as Buffer, bytes)).toBe(0);
      expect(frame.size).toBe(Buffer.concat(frame.chunks).length);
      expect({
        contentType: read.contentType,
        responseTopic: read.responseTopic,
        correlationData: read.correlationData,
        messageExpiry: read.messageExpiryInterval,
        userProperties: new Set(pairs),
      }).toEqual({ ...carried, userProperties: new Set(carried.userProperties) });
    }),
  );
});

test("properties larger than all before them are written whole", () => {
  const userProperties = Array.from({ length: 500 }, (_, i) => (i % 2 === 0 ? `name-${i}` : "v".repeat(65_000)));
  const frame = withPacketId(
    encodePublish({ topic: "t", qos: 1, retain: false, properties: { userProperties } }, Buffer.from("p")),
    1,
  );
  expect(Object.keys(parse(frame, 5).properties?.userProperties ?? {})).toHaveLength(250);
});
