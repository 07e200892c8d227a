/** Messages to a topic that no library would write, and who writes them. @module */
import { once } from "node:events";
import { connect } from "node:net";
import { generate, type IPublishPacket, parser } from "mqtt-packet";

const V5 = { protocolVersion: 5 } as const;

/** On a connection of its own, as a broker closes it over what it refuses. */
export async function writeOverMqtt(port: number, message: Uint8Array): Promise<void> {
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

/** Names and values of every byte, empty, twice, and at each limit. */
export function hostileOverMqtt(topic: string): readonly Uint8Array[] {
  return packets(topic).map((packet) => generate(packet, V5));
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
