import { describeHostileSource, type ServerPlace, type StandInPlace } from "@bridge/conformance";
import { frame, uint16, uint32 } from "@bridge/tooling/hostile/amqp-words";
import { hostileOverAmqp, writeOverAmqp } from "@bridge/tooling/hostile/amqp";
import { describe } from "vitest";
import { amqpTransport } from "../src/amqp-transport.ts";
import { noBroker, PORT } from "./support/broker.ts";
import { program } from "./support/program.ts";
import { standIn, type Trick } from "./support/stand-in.ts";
import { delivery, say } from "./support/words.ts";

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
    messages: hostileOverAmqp(queue),
    async write(messages) {
      for (const message of messages) await writeOverAmqp(PORT, message);
    },
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  };
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
