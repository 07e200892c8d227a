import type { Socket } from "node:net";
import { type LocalServer, localServer } from "@bridge/tooling/local-server";
import { describe, expect, test } from "vitest";
import { PacketLengths } from "../src/packet-lengths.ts";
import { connected, freshTopic, like, Puller, receiver, session, text } from "./support/parts.ts";
import { mosquitto } from "./support/mosquitto.ts";
import { program } from "./support/witness.ts";

const never = new AbortController().signal;
const CONNACK = Buffer.from("2003000000", "hex");
/** Far more than is read before the connection is ended. */
const FLOOD = Buffer.alloc(65_536, "x");

function answering(answer: (socket: Socket) => void): Promise<LocalServer> {
  return localServer((socket) => void socket.once("data", () => answer(socket)));
}

describe("finding 1.7: what a broker announces", () => {
  test.each([
    ["30ffffff7f", "a message of 268435460 bytes was announced and is not read, as max_message_bytes is 16777216"],
    ["30ffffff80", "the broker has sent a packet whose length has no end"],
    ["d0ffffff7f", "a message of 268435460 bytes was announced"],
  ])("is refused as soon as it is said: %s", async (said, message) => {
    await using broker = await answering((socket) => {
      socket.write(CONNACK);
      socket.write(Buffer.from(said, "hex"));
      for (let flood = 0; flood < 16; flood++) socket.write(FLOOD);
    });
    await using source = session({ port: broker.port });
    const lost = source.connect(never).then((connection) => connection.closed);
    const error = await lost.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "CONNECTION_LOST", message: like(new RegExp(`^mqtt://.*: ${message}`)) });
  });

  test("is followed however it is cut", () => {
    const packets = Buffer.from(`20030000003105000174${"00".repeat(2)}d000308101${"01".repeat(129)}d000`, "hex");
    const whole = new PacketLengths("a", 132);
    whole.look(packets);
    const cut = new PacketLengths("a", 132);
    for (const byte of packets) cut.look(Buffer.of(byte));
    const less = new PacketLengths("a", 131);
    expect(() => less.look(packets)).toThrow("a: a message of 132 bytes was announced");
  });

  test("is told to the broker, which drops what is larger and goes on", async () => {
    await using broker = await mosquitto();
    const topic = freshTopic();
    await using source = session({ port: broker.port, options: { max_message_bytes: 2_048 } });
    const from = receiver(source, [topic]);
    const connection = await connected(source, never);
    const peer = await program(broker.port);
    await peer.publishAsync(topic, Buffer.alloc(4_000), { qos: 1 });
    await peer.publishAsync(topic, "small", { qos: 1 });
    await peer.endAsync(true);
    expect(text(await new Puller(from, never).next())).toBe("small");
    await connection[Symbol.asyncDispose]();
  });
});

describe("finding 6.10: what answers in place of a broker is named", () => {
  test.each([
    ["AMQP\0\0\t\u0001", "an AMQP server answered at mqtt://.*; is this the MQTT port"],
    ['INFO {"server_id"', "a NATS server answered at mqtt://"],
    ["HTTP/1.1 400 Bad Request\r\n\r\n", "an HTTP server answered at mqtt://"],
    ["\u0015\u0003\u0003\0\u0002\u0002P", "a server that expects TLS answered at mqtt://"],
    ["hello", "something that does not speak MQTT answered at mqtt://"],
  ])("by how it begins: %j", async (said, message) => {
    await using server = await answering((socket) => socket.end(Buffer.from(said, "latin1")));
    await using source = session({ port: server.port });
    const problem = { code: "CONNECTION_LOST", message: like(new RegExp(message)) };
    await expect(source.connect(never)).rejects.toMatchObject(problem);
  });

  test("a plain one where TLS is wanted", async () => {
    await using server = await answering((socket) => socket.end("AMQP\0\0\t\u0001"));
    await using source = session({ port: 1, options: { broker_urls: [`mqtts://127.0.0.1:${server.port}`] } });
    await expect(source.connect(never)).rejects.toMatchObject({
      message: like(/what answers there does not speak TLS: is this the right port/),
    });
  });
});
