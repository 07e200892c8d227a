import { BridgeError } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { Malformed } from "../src/codec/byte-reader.ts";
import { Method } from "../src/codec/methods.ts";
import { like } from "./support/like.ts";
import {
  accept,
  connected,
  envelope,
  type LogLine,
  never,
  Puller,
  receiver,
  sender,
  session,
} from "./support/parts.ts";
import { standIn, type StandIn, type Trick } from "./support/stand-in.ts";
import { frame, method, short, uint16, uint32, uint64 } from "@bridge/tooling/hostile/amqp-words";
import { delivery, METHODS, say } from "./support/words.ts";

const MIB = 1_048_576;
const CLEAR_LINE =
  /: (?:amqp:\/\/127\.0\.0\.1|the channel of queue|the broker consumes queue|an? .*answered at amqp:|something .*answered at amqp:)/;
/** Where channels mean nothing yet, one is as good as another. */
const STATES = [
  ["start", 0],
  ["tune", 0],
  ["open", 0],
  ["open", 1],
  ["channelOpen", 0],
  ["channelOpen", 1],
  ["consume", 0],
  ["consume", 1],
  ["consume", 7],
] as const;

/** Whole frames, and what only looks like one. */
function* hostileBytes(channel: number): Generator<readonly [what: string, bytes: Buffer]> {
  for (const name of Object.keys(METHODS)) {
    const whole = say(name, channel);
    yield [name, whole];
    const payload = whole.subarray(7, -1);
    if (payload.length > 4) yield [`${name}, cut off`, frame(1, channel, payload.subarray(0, -1))];
    yield [`${name}, going on`, frame(1, channel, Buffer.concat([payload, Buffer.of(0)]))];
  }
  const header = (size: bigint, properties: Buffer): Buffer =>
    frame(2, channel, Buffer.concat([uint16(60), uint16(0), uint64(size), properties]));
  const deliver = say("deliver", channel);
  yield ["an empty method", frame(1, channel, Buffer.alloc(0))];
  yield ["a header of nothing", header(1n, uint16(0))];
  yield ["a payload of nothing", frame(3, channel, Buffer.from("x"))];
  yield ["a heartbeat", frame(8, channel, Buffer.alloc(0))];
  yield ["an unknown frame", frame(7, channel, Buffer.from("x"))];
  yield ["two deliveries in one another", Buffer.concat([deliver, deliver])];
  yield ["a payload before its header", Buffer.concat([deliver, frame(3, channel, Buffer.from("x"))])];
  yield ["a header of another class", Buffer.concat([deliver, frame(2, channel, Buffer.alloc(14))])];
  yield ["a header that is cut off", Buffer.concat([deliver, frame(2, channel, uint16(60))])];
  yield ["two headers", Buffer.concat([deliver, header(1n, uint16(0)), header(1n, uint16(0))])];
  yield ["a payload that is too long", delivery(channel, 1n, Buffer.from("xy"), uint16(0), 1n)];
  yield ["an endless payload", delivery(channel, 1n, Buffer.from("xy"), uint16(0), 2n ** 64n - 1n)];
  yield ["a tag beyond all numbers", delivery(channel, 2n ** 63n, Buffer.from("x"))];
  yield ["the wrong tag", delivery(channel, 1_000_000n, Buffer.from("x"))];
  yield ["an end that is none", Buffer.concat([deliver.subarray(0, -1), Buffer.of(0)])];
  yield ["a frame that is too large", Buffer.concat([Buffer.of(1), uint16(channel), uint32(2 ** 31)])];
  yield ["the largest frame", Buffer.concat([Buffer.of(3), uint16(channel), uint32(2 ** 32 - 1)])];
}

/** Connects, consumes and waits for the end, which always comes; what was said about it. */
async function trial(broker: StandIn, trick: Trick): Promise<readonly string[]> {
  broker.trick = trick;
  const log: LogLine[] = [];
  await using source = session({ port: broker.port, log });
  const puller = new Puller(receiver(source, { queue: "queue", queue_type: "classic" }, { log }));
  void puller.next().catch(() => {});
  let end: unknown;
  try {
    const connection = await source.connect(never);
    await connection.reconcile(never);
    end = await connection.closed;
  } catch (error) {
    end = error;
  }
  expect(end).toBeInstanceOf(BridgeError);
  return [(end as BridgeError).message, ...log.map(({ message }) => message)];
}

describe.each(STATES)('finding 1.4: hostile frames at the broker\'s "%s", on channel %i', (state, channel) => {
  test("end the connection at worst, and a hundred messages follow on the next", async () => {
    await using broker = await standIn();
    for (const [what, bytes] of hostileBytes(channel)) {
      const [said] = await trial(broker, { state, bytes });
      expect(`${what}: ${said}`).toMatch(CLEAR_LINE);
      if (channel !== 0) continue;
      const [instead] = await trial(broker, { state, bytes, instead: true });
      expect(`${what} instead: ${instead}`).toMatch(CLEAR_LINE);
    }
    const messages = Array.from({ length: 100 }, (_, i) => delivery(1, BigInt(i + 1), Buffer.from(String(i))));
    broker.trick = { state: "consume", bytes: Buffer.concat(messages), stays: true };
    await using source = session({ port: broker.port });
    const puller = new Puller(receiver(source, { queue: "queue", queue_type: "classic" }));
    await connected(source);
    const deliveries = await puller.take(100);
    expect(deliveries.map(({ message }) => Buffer.from(message.payload).toString())).toEqual(
      Array.from({ length: 100 }, (_, i) => String(i)),
    );
    await Promise.all(deliveries.map(accept));
    await expect.poll(() => broker.heard.filter((said) => said === "60,80").length).toBeGreaterThan(0);
  });
});

test("finding 1.4: every method that is cut off anywhere is malformed", () => {
  for (const name of Object.keys(METHODS)) {
    const payload = say(name, 0).subarray(7, -1);
    for (let size = 0; size < payload.length; size++)
      expect(() => new Method(payload.subarray(0, size)), `${name}, ${size} bytes`).toThrow(Malformed);
  }
});

describe("finding 1.4: a frame behind the broker's welcome", () => {
  test.each([
    [
      "a truncated delivery",
      "channelOpen",
      frame(1, 1, Buffer.from("003c003c", "hex")),
      /"deliver", which ends 1 bytes too early/,
    ],
    ["a frame of an unopened channel", "open", say("deliver", 1), /a frame of channel 1, which is not open/],
    ["a method that nobody knows", "open", say("unknownMethod", 0), /an unknown method \(60, 99\)/],
    ["an answer to nothing", "open", say("tune", 0), /the method "tune", which nobody has asked for/],
    ["no frame at all", "open", Buffer.from("HTTP/1.1 400"), /no frame, but the byte 72/],
    [
      "a frame that is too large",
      "open",
      Buffer.concat([Buffer.of(1, 0, 0), uint32(131_072)]),
      /131080 bytes, where 131072/,
    ],
  ] as const)("%s: the log says what was wrong", async (_what, state, bytes, why) => {
    await using broker = await standIn();
    const [said] = await trial(broker, { state, bytes });
    expect(said).toMatch(/the broker sent what AMQP 0-9-1 does not know/);
    expect(said).toMatch(why);
  });

  test("another version, or another protocol, is called what it is", async () => {
    await using broker = await standIn();
    const bytes = Buffer.from("AMQP\u{3}\u{1}\0\0", "latin1");
    const [other] = await trial(broker, { state: "start", bytes, instead: true });
    expect(other).toMatch(/no broker of AMQP 0-9-1 answers there, it sent that it speaks another version: 3-1-0-0/);
    const [http] = await trial(broker, {
      state: "start",
      bytes: Buffer.from("HTTP/1.1 400 Bad Request\r\n"),
      instead: true,
    });
    expect(http).toMatch(/^an HTTP server answered at amqp:.*is this the AMQP port/);
  });
});

describe("finding 1.7: a message that is announced to be larger than max_message_bytes", () => {
  const small = (tag: bigint): Buffer => delivery(1, tag, Buffer.from(`small ${tag}`));

  test("is let go as it comes and stays in its queue; what follows arrives", async () => {
    await using broker = await standIn();
    const large = delivery(1, 1n, Buffer.alloc(2_000_000));
    broker.trick = { state: "consume", bytes: Buffer.concat([large, small(2n)]), stays: true };
    const log: LogLine[] = [];
    await using source = session({ port: broker.port, options: { max_message_bytes: MIB } });
    const from = receiver(source, { queue: "queue", queue_type: "classic" }, { log });
    const puller = new Puller(from);
    const connection = await connected(source);
    const delivered = await puller.next();
    expect(Buffer.from(delivered.message.payload).toString()).toBe("small 2");
    await accept(delivered);
    expect(log).toEqual([
      {
        message: like(/larger than max_message_bytes/),
        fields: { receiver_id: "in", queue: "queue", size: 2_000_000 },
      },
    ]);
    expect(from.counters?.()).toMatchObject({ received: 1, too_large: 1 });
    await connection[Symbol.asyncDispose]();
  });

  test("is not kept either when it never ends: 200 MB of 2 GB do not gather", async () => {
    await using broker = await standIn();
    const announced = delivery(1, 1n, Buffer.alloc(0), uint16(0), 2n ** 31n);
    const part = frame(3, 1, Buffer.alloc(100_000));
    broker.trick = { state: "consume", bytes: announced, stays: true };
    await using source = session({ port: broker.port });
    receiver(source, { queue: "queue", queue_type: "classic" });
    const connection = await connected(source);
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 2_000; i++) await broker.send(part);
    await broker.send(say("close", 0));
    expect(await connection.closed).toMatchObject({ code: "CONNECTION_LOST" });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * MIB);
  });
});

describe("finding 6.6: a channel that is closed in the same read", () => {
  test("as its consume-ok does not count as consuming", async () => {
    await using broker = await standIn();
    broker.trick = { state: "consume", bytes: say("channelClose", 1), stays: true };
    await using source = session({ port: broker.port });
    receiver(source, { queue: "queue", queue_type: "classic" });
    const connection = await source.connect(never);
    expect([...(await connection.reconcile(never))]).toEqual([]);
    expect(await connection.closed).toMatchObject({ message: like("the channel of queue queue was closed") });
  });

  test("as its confirms are selected publishes nothing, and the next one does", async () => {
    await using broker = await standIn();
    broker.trick = { state: "confirmSelect", bytes: say("channelClose", 1), stays: true };
    await using target = session({ port: broker.port, role: "target" });
    await using out = sender(target);
    await connected(target);
    await expect(out.send(envelope(), "queue", never)).rejects.toMatchObject({ charged: false });
    await expect(out.send(envelope(), "queue", never)).rejects.toMatchObject({ charged: false });
    expect(broker.heard.filter((said) => said === "20,10")).toHaveLength(2);
  });
});

test("a channel that the broker may not have is told in words", async () => {
  await using broker = await standIn();
  broker.trick = {
    state: "tune",
    bytes: method(0, 10, 30, uint16(1), uint32(4_096), uint16(0)),
    instead: true,
    stays: true,
  };
  const log: LogLine[] = [];
  await using source = session({ port: broker.port, log });
  for (const id of ["a", "b"]) receiver(source, { queue: short(id).toString(), queue_type: "classic" }, { id });
  const connection = await source.connect(never);
  expect((await connection.reconcile(never)).size).toBe(1);
  expect(log).toMatchObject([{ fields: { code: "UNAVAILABLE", error: like("allows 1 channels on a connection") } }]);
});
