import { once } from "node:events";
import { connect } from "node:net";
import { describeHostileSource, type ServerPlace } from "@bridge/conformance";
import { generate, type IPublishPacket, parser } from "mqtt-packet";
import { mqttTransport } from "../src/index.ts";
import { hostileBroker } from "./support/hostile-broker.ts";
import { mosquitto } from "./support/mosquitto.ts";
import { program } from "./support/witness.ts";

const V5 = { protocolVersion: 5 } as const;

describeHostileSource("mqtt", {
  plugin: mqttTransport,
  openServer: () => realBroker(),
  openStandIn: () => hostileBroker(),
});

async function realBroker(): Promise<ServerPlace> {
  const stack = new AsyncDisposableStack();
  const broker = stack.use(await mosquitto());
  const peer = await program(broker.port);
  stack.defer(() => peer.endAsync(true));
  const topic = "hostile/t";
  return {
    source: {
      session: { options: { broker_urls: [`mqtt://127.0.0.1:${broker.port}`], max_message_bytes: 65_536 } },
      receiver: { options: {}, topics: [{ topic, qos: 1 }] },
      subject: topic,
      publish: async ({ payload }) => void (await peer.publishAsync(topic, Buffer.from(payload), { qos: 1 })),
    },
    messages: packets(topic).map((packet) => generate(packet, V5)),
    write: (messages) => writeEach(broker.port, messages),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Each on a connection of its own, as a broker closes it over what it refuses. */
async function writeEach(port: number, messages: readonly Uint8Array[]): Promise<void> {
  for (const message of messages) {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("error", () => {});
    const stream = parser(V5);
    stream.on("packet", ({ cmd }) => {
      if (cmd === "connack") socket.write(message);
      else socket.end(generate({ cmd: "disconnect" }, V5));
    });
    socket.on("data", (bytes) => stream.parse(bytes));
    socket.write(generate({ cmd: "connect", clientId: "", protocolVersion: 5, clean: true, keepalive: 10 }, V5));
    await once(socket, "close");
  }
}

function packets(topic: string): readonly IPublishPacket[] {
  const packet = (fields: Partial<IPublishPacket>): IPublishPacket => ({
    cmd: "publish",
    topic,
    payload: "hostile",
    qos: 1,
    dup: false,
    retain: false,
    messageId: 1,
    ...fields,
  });
  const property = (name: string, value: string): IPublishPacket =>
    packet({ properties: { userProperties: { [name]: value } } });
  const characters = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
  return [
    ...characters.map((character) => property(`a${character}b`, `a${character}b`)),
    ...["", "__proto__", "constructor", "message-id", "x-bridge.dedup-id", "mqtt.dup", "ﬀ"].map((name) =>
      property(name, "v"),
    ),
    property("a".repeat(65_535), "v"),
    property("a", "v".repeat(60_000)),
    packet({ properties: { correlationData: Buffer.alloc(60_000, 0xff) } }),
    packet({ properties: { messageExpiryInterval: 0xffff_ffff, contentType: "\u0001", responseTopic: "" } }),
    packet({ payload: Buffer.alloc(65_400) }),
    packet({ payload: Buffer.alloc(70_000) }),
    packet({ payload: "", topic, properties: { userProperties: { a: ["", "", "b"] } } }),
  ];
}
