/** What it costs to read the properties of a message, beside amqplib's codec, in turns in one run. @module */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readProperties } from "../src/codec/read-properties.ts";
import { publishFrames } from "../src/codec/publish-frames.ts";

const load = createRequire(import.meta.url);
const { decode, BasicProperties } = load(join(dirname(load.resolve("amqplib")), "lib/defs.js")) as {
  readonly decode: (id: number, bytes: Buffer) => object;
  readonly BasicProperties: number;
};

const ROUNDS = 21;
const EACH = 20_000;
/** Of the method frame and of the header's start, up to the flags. */
const HEADER_START = 7 + 12;

function propertiesWith(headers: number): Buffer {
  const names = Array.from({ length: headers }, (_, i) => [`x-header-${i}`, `value of ${i}`] as const);
  const fields = {
    exchange: "",
    routingKey: "q",
    mandatory: true,
    deliveryMode: 2,
    headers: Object.fromEntries(names),
    messageId: "0190a4c8-7b5f-7c3e-8000-000000000001",
    contentType: "application/json",
    contentEncoding: undefined,
    priority: undefined,
    correlationId: "0190a4c8-7b5f-7c3e-8000-000000000002",
    replyTo: undefined,
    expiration: undefined,
    timestamp: 1_700_000_000n,
    type: undefined,
    appId: undefined,
  };
  const frames = publishFrames(1, fields, Buffer.alloc(0), 131_072);
  const method = 8 + frames.readUInt32BE(3);
  return frames.subarray(method + HEADER_START, -1);
}

function nanoseconds(read: () => unknown): number {
  const before = process.hrtime.bigint();
  for (let i = 0; i < EACH; i++) read();
  return Number(process.hrtime.bigint() - before) / EACH;
}

const median = (of: readonly number[]): number => of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)] as number;

test.each([0, 3, 12])("properties with %i headers are read about as quickly as by amqplib", (headers) => {
  const bytes = propertiesWith(headers);
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(nanoseconds(() => readProperties(bytes)));
    theirs.push(nanoseconds(() => decode(BasicProperties, bytes)));
  }
  const [own, amqplib] = [median(ours), median(theirs)];
  process.stdout.write(
    `${headers} headers: ${Math.round(own)} ns, amqplib ${Math.round(amqplib)} ns, ${(own / amqplib).toFixed(2)}\n`,
  );
  expect(own / amqplib).toBeLessThan(3);
});
