import { once } from "node:events";
import { connect } from "node:net";
import { describeHostileSource, type ServerPlace, type StandInPlace } from "@bridge/conformance";
import { describe } from "vitest";
import { amqpTransport } from "../src/index.ts";
import { noBroker, PORT } from "./support/broker.ts";
import { program } from "./support/program.ts";
import { standIn, type Trick } from "./support/stand-in.ts";
import { delivery, frame, long, method, say, short, uint16, uint32, uint64 } from "./support/words.ts";

describe.skipIf(noBroker)("beside a real broker (needs RabbitMQ)", () => {
  describeHostileSource("amqp, RabbitMQ", { plugin: amqpTransport, openServer: () => realBroker() });
});

describeHostileSource("amqp", { plugin: amqpTransport, openStandIn: () => hostileBroker() });

async function realBroker(): Promise<ServerPlace> {
  const broker = await program();
  const queue = await broker.queue();
  return {
    source: {
      session: { options: { url: `amqp://127.0.0.1:${PORT}` } },
      receiver: { options: { queue, queue_type: "classic" } },
      subject: queue,
      publish: ({ payload }) => broker.publish(queue, Buffer.from(payload)),
    },
    messages: [...contents()].map((content) => publication(queue, content)),
    async write(messages) {
      for (const message of messages) await writeAlone(message);
    },
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  };
}

/** All that a client says, at once, on a connection of its own, as a broker closes it over what it refuses. */
async function writeAlone(message: Uint8Array): Promise<void> {
  const socket = connect({ port: PORT, host: "127.0.0.1" });
  socket.on("error", () => {});
  // "close" and "close-ok": it has read all that it is going to.
  const isOver = (data: Buffer): boolean => [50, 51].some((id) => data.includes(Buffer.of(0, 10, 0, id)));
  socket.on("data", (data: Buffer) => {
    if (isOver(data)) socket.destroy();
  });
  socket.write(
    Buffer.concat([
      Buffer.from("AMQP\0\0\u0009\u0001", "latin1"),
      method(0, 10, 11, long(), short("PLAIN"), long("\0guest\0guest"), short("en_US")),
      method(0, 10, 31, uint16(2_047), uint32(131_072), uint16(0)),
      method(0, 10, 40, short("/"), short(""), Buffer.of(0)),
      method(1, 20, 10, short("")),
      message,
      method(0, 10, 50, uint16(200), short(""), uint16(0), uint16(0)),
    ]),
  );
  await once(socket, "close");
}

/** Properties, and a payload that they may say nothing true about. */
function publication(queue: string, properties: Buffer): Buffer {
  const payload = Buffer.from("hostile");
  return Buffer.concat([
    method(1, 60, 40, uint16(0), short(""), short(queue), Buffer.of(0)),
    frame(2, 1, Buffer.concat([uint16(60), uint16(0), uint64(BigInt(payload.length)), properties])),
    frame(3, 1, payload),
  ]);
}

const HEADERS = 0x2000;

function* contents(): Generator<Buffer> {
  const table = (...fields: readonly Buffer[]): Buffer => Buffer.concat([uint16(HEADERS), long(Buffer.concat(fields))]);
  const field = (name: Buffer, tag: string, value: Buffer): Buffer =>
    Buffer.concat([Buffer.of(name.length), name, Buffer.from(tag), value]);
  const text = (name: string | Buffer, value: string | Buffer): Buffer => field(Buffer.from(name), "S", long(value));
  for (let code = 0; code < 256; code += 8) {
    const bytes = Array.from({ length: 8 }, (_, index) => Buffer.of(0x61, code + index, 0x62));
    yield table(...bytes.map((one) => text(one, one)));
    for (const flag of [0x8000, 0x4000, 0x400, 0x80])
      yield Buffer.concat([uint16(flag), Buffer.of(3), bytes[0] ?? Buffer.alloc(3)]);
  }
  for (const name of [
    "",
    "__proto__",
    "constructor",
    "Ordering-Key",
    "x-bridge.dedup-id",
    "amqp.type",
    "x".repeat(255),
  ])
    yield table(text(name, "v"), text(name, "w"));
  for (let tag = 0; tag < 128; tag++)
    yield table(field(Buffer.from("dedup-id"), String.fromCharCode(tag), Buffer.alloc(8, 0xff)));
  yield table(text("a", "v".repeat(60_000)));
  yield table(...Array.from({ length: 1_000 }, (_, index) => text(`h${index}`, "v")));
  for (const cut of [1, 5, 9]) yield table(text("ordering-key", "value")).subarray(0, -cut);
  yield Buffer.concat([uint16(HEADERS), uint32(0xffff_ffff)]);
  yield uint16(0x0001);
  yield uint16(0xffff);
  for (const expiration of ["", "-1", "1e9", "soon", "9".repeat(200)])
    yield Buffer.concat([uint16(0x100), short(expiration)]);
  yield Buffer.concat([uint16(0x40), uint64(2n ** 64n - 1n)]);
}

/** One of each kind; every method, at every state, is in the tests of the frames. */
const SAID = ["tune", "close", "channelClose", "consume", "deliver", "return", "unknownMethod"] as const;

async function hostileBroker(): Promise<StandInPlace> {
  const broker = await standIn();
  const frames = SAID.map((name) => [name, say(name, 1)] as const);
  return {
    source: {
      session: {
        options: { url: `amqp://127.0.0.1:${broker.port}`, connect_timeout: "5s", max_message_bytes: 65_536 },
      },
      receiver: { options: { queue: "queue", queue_type: "classic" } },
    },
    states: ["start", "open", "consume"] satisfies readonly Trick["state"][],
    frames: { ...Object.fromEntries(frames), delivery: delivery(1, 1n, Buffer.from("x")) },
    outrages: [
      delivery(1, 1n, Buffer.from("x"), uint16(0), 2n ** 64n - 1n),
      delivery(1, 2n ** 63n, Buffer.from("x")),
      Buffer.concat([Buffer.of(1), uint16(1), uint32(2 ** 32 - 1)]),
      frame(1, 65_535, say("deliver", 1)),
      frame(7, 1, Buffer.from("x")),
      Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"),
      Buffer.from("AMQP\0\u0001\0\0", "latin1"),
    ],
    say: (state, bytes) =>
      new Promise((done) => {
        const over = (): void => {
          broker.trick = undefined;
          done();
        };
        broker.trick = { state: state as Trick["state"], bytes: Buffer.from(bytes), over };
        broker.drop();
      }),
    hand(payloads) {
      const messages = payloads.map((payload, index) => delivery(1, BigInt(index + 1), Buffer.from(payload)));
      broker.trick = { state: "consume", bytes: Buffer.concat(messages), stays: true };
      broker.drop();
    },
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  };
}
