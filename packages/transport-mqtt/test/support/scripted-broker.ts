import { localServer } from "@bridge/tooling/local-server";
import { generate, type IConnackPacket, type Packet, parser } from "mqtt-packet";

/** One client of a {@link ScriptedBroker}. */
interface Client {
  send(packet: Packet): void;
  /** Ends the connection after what was sent. */
  end(): void;
}

/** What a broker does instead of the usual. Returns `true` when it has dealt with the packet. */
type Script = (packet: Packet, client: Client) => boolean | undefined;

/** A broker of MQTT 5 that takes the standard literally, or does exactly what a test wants. */
export interface ScriptedBroker extends AsyncDisposable {
  readonly port: number;
  /** Everything that clients have sent. */
  readonly received: readonly Packet[];
  /** The latest client. */
  readonly client: Client;
}

export interface ScriptedBrokerOptions {
  readonly connack?: Partial<IConnackPacket>;
  readonly script?: Script;
}

export async function scriptedBroker(options: ScriptedBrokerOptions = {}): Promise<ScriptedBroker> {
  const received: Packet[] = [];
  let latest: Client | undefined;

  const server = await localServer((socket) => {
    const client: Client = {
      send: (packet) => socket.write(generate(packet, { protocolVersion: 5 })),
      end: () => socket.end(),
    };
    latest = client;
    const stream = parser({ protocolVersion: 5 });
    stream.on("packet", (packet) => {
      received.push(packet);
      if (options.script?.(packet, client) !== true) answer(packet, client, options.connack);
    });
    stream.on("error", () => socket.destroy());
    socket.on("data", (data) => stream.parse(data));
  });
  return {
    port: server.port,
    received,
    get client() {
      if (latest === undefined) throw new Error("nobody has connected");
      return latest;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function answer(packet: Packet, client: Client, connack: Partial<IConnackPacket> = {}): void {
  const { messageId = 0 } = packet;
  if (packet.cmd === "connect") client.send({ cmd: "connack", sessionPresent: false, reasonCode: 0, ...connack });
  else if (packet.cmd === "subscribe") {
    client.send({ cmd: "suback", messageId, granted: packet.subscriptions.map(({ qos }) => qos) });
  } else if (packet.cmd === "publish" && packet.qos === 1) client.send({ cmd: "puback", messageId, reasonCode: 0 });
  else if (packet.cmd === "pingreq") client.send({ cmd: "pingresp" });
}

/** A message of QoS 1 for a client. */
export function message(topic: string, messageId: number, payload = String(messageId)): Packet {
  return { cmd: "publish", topic, payload, qos: 1, dup: false, retain: false, messageId };
}
