import { BridgeError } from "@bridge/ports";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ByteReader, Malformed } from "../src/codec/byte-reader.ts";
import { fieldText, timeText } from "../src/codec/field-text.ts";
import { Decimal, FieldTable, type FieldValue, Timestamp } from "../src/codec/field-value.ts";
import { readFieldTable } from "../src/codec/read-field-table.ts";
import { readProperties } from "../src/codec/read-properties.ts";
import { writeFieldTable } from "../src/codec/write-field-table.ts";
import { noBroker } from "./support/broker.ts";
import { accept, connected, Puller, receiver, session } from "./support/parts.ts";
import { program } from "./support/program.ts";
import { publishRaw } from "./support/raw-publisher.ts";

const HEADERS_FLAG = 0x2000;

/** A field as it is on the wire: its type, and the bytes of its value. */
function field(name: string, type: string, hex: string): Buffer {
  return Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.from(type), Buffer.from(hex, "hex")]);
}

function sized(bytes: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(bytes.length);
  return Buffer.concat([size, bytes]);
}

/** Properties that are headers only. */
function headersOnly(...fields: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.of(HEADERS_FLAG >> 8, HEADERS_FLAG & 0xff), sized(Buffer.concat(fields))]);
}

/** Every type at its edges, and what it becomes. */
const BECOMES: readonly (readonly [type: string, hex: string, text: string])[] = [
  ["t", "00", "false"],
  ["t", "01", "true"],
  ["b", "80", "-128"],
  ["b", "7f", "127"],
  ["B", "ff", "255"],
  ["s", "8000", "-32768"],
  ["u", "ffff", "65535"],
  ["I", "80000000", "-2147483648"],
  ["i", "ffffffff", "4294967295"],
  ["l", "8000000000000000", "-9223372036854775808"],
  ["l", "7fffffffffffffff", "9223372036854775807"],
  ["l", "0020000000000001", "9007199254740993"],
  ["l", "001fffffffffffff", "9007199254740991"],
  ["L", "00000193566b2c00", "1732321684480"],
  ["L", "8000000000000000", "-9223372036854775808"],
  ["L", "ffdfffffffffffff", "-9007199254740993"],
  ["f", "3fc00000", "1.5"],
  ["f", "7fc00000", "NaN"],
  ["d", "3ff8000000000000", "1.5"],
  ["d", "8000000000000000", "-0"],
  ["d", "fff0000000000000", "-Infinity"],
  ["d", "0000000000000001", "5e-324"],
  ["D", "0200000005", "0.05"],
  ["D", "02fffffffb", "-0.05"],
  ["D", "0080000000", "-2147483648"],
  ["D", "007fffffff", "2147483647"],
  ["D", "0afffffffe", "-0.0000000002"],
  ["T", "0000000000000000", "1970-01-01T00:00:00.000Z"],
  ["T", "000000006553f100", "2023-11-14T22:13:20.000Z"],
  // Milliseconds, as some write them; and what is neither.
  ["T", "0000018bcfe5687b", "2023-11-14T22:13:20.123Z"],
  ["T", "ffffffffffffffff", "18446744073709551615"],
  ["V", "", ""],
  ["S", "00000002c3a9", "é"],
  ["S", "00000000", ""],
  ["S", "00000003efbfbd", "\u{fffd}"],
  ["S", "00000002c328", "base64:wyg="],
  ["x", "000000020000", "base64:AAA="],
  ["A", "00000000", "[]"],
  ["A", "000000096c0020000000000001", '["9007199254740993"]'],
  ["F", "00000000", "{}"],
];

describe("finding 1.9, 1.10, 1.11: a value of a header", () => {
  test.each(BECOMES)("of the type %s, %s, is %j", (type, hex, text) => {
    const { headers, problem } = readProperties(headersOnly(field("name", type, hex)));
    expect(problem).toBeUndefined();
    expect(headers?.fields.map(([name, value]) => [name, fieldText(value)])).toEqual([["name", text]]);
  });

  test("within lists and tables keeps its digits, its order and every name", () => {
    const inner = sized(
      Buffer.concat([field("__proto__", "L", "0020000000000001"), field("", "t", "01"), field("", "V", "")]),
    );
    const list = Buffer.concat([
      Buffer.from("l"),
      Buffer.from("0020000000000001", "hex"),
      Buffer.from("D"),
      Buffer.from("02ffffffff", "hex"),
      Buffer.from("F"),
      inner,
      Buffer.from("d"),
      Buffer.from("fff0000000000000", "hex"),
    ]);
    const { headers } = readProperties(headersOnly(field("list", "A", sized(list).toString("hex"))));
    expect(fieldText(headers!.fields[0]![1])).toBe(
      '["9007199254740993","-0.01",{"__proto__":"9007199254740993","":true,"":null},"-Infinity"]',
    );
  });
});

describe("properties that cannot be read", () => {
  const id = Buffer.from("\u{5}id-01", "latin1");
  const flags = Buffer.of(0x20, 0x80);
  const withId = (table: Buffer): Buffer => Buffer.concat([flags, sized(table), id]);

  test.each([
    ["an unknown type", field("name", "?", "00"), /unknown type "\?"/],
    ["the end of the table in a value", field("name", "l", "0011"), /ends 6 bytes too early/],
    ["a text beyond the table", field("name", "S", "ffffffff"), /too early/],
    ["a name that is no UTF-8", Buffer.concat([Buffer.of(1, 0xff), Buffer.from("V")]), /no UTF-8/],
  ])("because of %s: it says so, and what else there is is read", (_what, table, why) => {
    const properties = readProperties(withId(table));
    expect(properties.problem).toMatchObject({ code: "INVALID_PAYLOAD" });
    expect(properties.problem?.message).toMatch(why);
    expect(properties.messageId).toBe("id-01");
  });

  test("because lists are in one another too deep", () => {
    const nested = (depth: number): Buffer => {
      let value = Buffer.from("V");
      for (let i = 0; i < depth; i++) value = Buffer.concat([Buffer.from("A"), sized(value)]);
      return Buffer.concat([Buffer.of(1), Buffer.from("n"), value]);
    };
    expect(readProperties(withId(nested(32))).problem).toBeUndefined();
    expect(readProperties(withId(nested(33))).problem?.message).toMatch(/more than 32 deep/);
    expect(readProperties(withId(nested(10_000))).problem?.message).toMatch(/more than 32 deep/);
  });

  test("whatever they are, are nobody else's trouble", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const { problem } = readProperties(Buffer.from(bytes));
        expect(problem === undefined || problem instanceof BridgeError).toBe(true);
      }),
    );
  });

  test("a text of theirs that is no UTF-8 is kept exactly, so that two ids stay two", () => {
    const ids = [0xfe, 0xff].map((byte) => readProperties(Buffer.of(0, 0x80, 1, byte)).messageId);
    expect(ids).toEqual(["base64:/g==", "base64:/w=="]);
  });
});

const scalar = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true }),
  fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((seconds) => new Timestamp(seconds)),
  fc.tuple(fc.nat(255), fc.integer()).map(([places, digits]) => new Decimal(places, digits)),
);

const { table } = fc.letrec<{ value: FieldValue; table: FieldTable }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, scalar, fc.array(tie("value")), tie("table")),
  table: fc
    .array(fc.tuple(fc.oneof(fc.string({ unit: "grapheme", maxLength: 20 }), fc.constant("__proto__")), tie("value")), {
      maxLength: 8,
    })
    .map((fields) => new FieldTable(fields)),
}));

test("any field table is read as it was written", () => {
  fc.assert(
    fc.property(table, (written) => {
      const from = new ByteReader(writeFieldTable(written));
      expect(readFieldTable(from.part(from.uint32()))).toStrictEqual(written);
    }),
  );
});

test("a field table that is cut off anywhere is malformed", () => {
  fc.assert(
    fc.property(table, fc.nat(), (written, cut) => {
      const bytes = writeFieldTable(written).subarray(4);
      if (bytes.length === 0) return;
      const part = new ByteReader(bytes, 0, cut % bytes.length);
      let read: FieldTable | undefined;
      try {
        read = readFieldTable(part);
      } catch (error) {
        expect(error).toBeInstanceOf(Malformed);
      }
      // Between two fields there is nothing to be seen.
      if (read !== undefined) expect(written.fields.slice(0, read.fields.length)).toStrictEqual(read.fields);
    }),
  );
});

test("a time is written in RFC 3339 as long as that can be", () => {
  expect([253_402_300_799n, 253_402_300_800n, 253_402_300_799_999n, 253_402_300_800_000n].map(timeText)).toEqual([
    "9999-12-31T23:59:59.000Z",
    "1978-01-11T21:31:40.800Z",
    "9999-12-31T23:59:59.999Z",
    "253402300800000",
  ]);
});

describe.skipIf(noBroker)("finding 1.9: a message with any header (needs RabbitMQ)", () => {
  test("arrives, and holds up nobody on another queue of the session", async () => {
    await using broker = await program();
    const [odd, other] = [await broker.queue("quorum"), await broker.queue()];
    await publishRaw(odd, headersOnly(field("sent_at_ms", "L", "00000193566b2c00")), Buffer.from("a"));
    await publishRaw(odd, headersOnly(field("", "V", ""), field("__proto__", "S", "0000000178")), Buffer.from("b"));
    for (let i = 0; i < 20; i++) await broker.publish(other, String(i));
    await using source = session();
    const odds = new Puller(receiver(source, { queue: odd }, { id: "odd" }));
    const others = new Puller(receiver(source, { queue: other, queue_type: "classic" }, { id: "other" }));
    await connected(source);
    const [a, b] = await odds.take(2);
    expect(a?.undecodable).toBeUndefined();
    expect(a?.message.headers).toMatchObject({ sent_at_ms: "1732321684480" });
    expect(Object.entries(b?.message.headers ?? {})).toEqual([
      ["", ""],
      ["__proto__", "x"],
    ]);
    await Promise.all((await others.take(20)).map(accept));
    for (const delivery of [a!, b!]) await accept(delivery);
  });

  test("finding 1.10: twenty snowflakes are twenty identities", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    const first = 1_732_276_530_176_000_001n;
    for (let i = 0n; i < 20n; i++) {
      const id = (first + i).toString(16).padStart(16, "0");
      await publishRaw(
        queue,
        headersOnly(field("dedup-id", i % 2n === 0n ? "l" : "L", id), field("ordering-key", "l", id)),
      );
    }
    await using source = session();
    const puller = new Puller(receiver(source, { queue, queue_type: "classic" }));
    await connected(source);
    const deliveries = await puller.take(20);
    const ids = Array.from({ length: 20 }, (_, i) => String(first + BigInt(i)));
    expect(deliveries.map(({ message }) => message.dedupId)).toEqual(ids);
    expect(deliveries.map(({ message }) => message.orderingKey)).toEqual(ids);
    await Promise.all(deliveries.map(accept));
  });

  test("finding 1.10: a floating point number beyond 2^53 is no identity", async () => {
    await using broker = await program();
    const queue = await broker.queue();
    await publishRaw(queue, headersOnly(field("dedup-id", "d", "43b80a5bb1a52b00")), Buffer.from("a"));
    await using source = session();
    const puller = new Puller(receiver(source, { queue, queue_type: "classic" }));
    await connected(source);
    const delivery = await puller.next();
    expect(delivery.undecodable).toMatchObject({ code: "INVALID_PAYLOAD" });
    await accept(delivery);
  });
});
