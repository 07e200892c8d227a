import type { Socket } from "node:net";
import type { StandInPlace } from "@bridge/conformance";
import { localServer } from "@bridge/tooling/local-server";
import { generate, type IPublishPacket, type Packet, parser } from "mqtt-packet";

const V5 = { protocolVersion: 5 } as const;
const TOPIC = "t";

interface Wrong {
  readonly state: string;
  readonly bytes: Uint8Array;
  readonly done: () => void;
}

/** A broker of MQTT 5 that behaves, but for what the suite has it say. */
export async function hostileBroker(): Promise<StandInPlace> {
  let wrong: Wrong | undefined;
  let current: Socket | undefined;
  let subscribed = false;
  const handed: string[] = [];

  const goesWrong = (state: string, socket: Socket): boolean => {
    if (wrong?.state !== state) return false;
    const { bytes, done } = wrong;
    wrong = undefined;
    socket.once("close", done);
    socket.end(bytes);
    return true;
  };
  const handOut = (): void => {
    if (!subscribed || current === undefined) return;
    for (const [index, payload] of handed.splice(0).entries())
      current.write(publish({ messageId: index + 1, payload }));
  };
  const server = await localServer((socket) => {
    current = socket;
    subscribed = false;
    const stream = parser(V5);
    stream.on("packet", (packet) => {
      if (packet.cmd === "connect") {
        if (goesWrong("greeting", socket)) return;
        socket.write(generate({ cmd: "connack", sessionPresent: false, reasonCode: 0 }, V5));
        goesWrong("connected", socket);
      } else if (packet.cmd === "subscribe" && !socket.writableEnded) {
        const { messageId = 0, subscriptions } = packet;
        socket.write(generate({ cmd: "suback", messageId, granted: subscriptions.map(({ qos }) => qos) }, V5));
        if (goesWrong("subscribed", socket)) return;
        subscribed = true;
        handOut();
      } else if (packet.cmd === "pingreq") socket.write(generate({ cmd: "pingresp" }, V5));
    });
    stream.on("error", () => socket.destroy());
    socket.on("data", (bytes) => stream.parse(bytes));
  });
  return {
    source: {
      session: {
        options: { broker_urls: [`mqtt://127.0.0.1:${server.port}`], connect_timeout: "5s", max_message_bytes: 65_536 },
      },
      receiver: { options: {}, topics: [{ topic: TOPIC, qos: 1 }] },
    },
    states: ["greeting", "connected", "subscribed"],
    frames: Object.fromEntries(Object.entries(FRAMES).map(([name, packet]) => [name, generate(packet, V5)])),
    outrages: OUTRAGES.map((hex) => Buffer.from(hex.replaceAll(" ", ""), "hex")),
    say: (state, bytes) =>
      new Promise((done) => {
        wrong = { state, bytes, done };
        current?.destroy();
      }),
    hand(payloads) {
      handed.push(...payloads);
      handOut();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const PUBLISH: IPublishPacket = {
  cmd: "publish",
  topic: TOPIC,
  payload: "payload",
  qos: 1,
  dup: false,
  retain: false,
  messageId: 7,
  properties: {
    contentType: "text/plain",
    responseTopic: "answers",
    correlationData: Buffer.from("c"),
    messageExpiryInterval: 60,
    userProperties: { a: ["b", "c"], "message-id": "id" },
  },
};

const FRAMES: Readonly<Record<string, Packet>> = {
  connack: { cmd: "connack", sessionPresent: true, reasonCode: 0, properties: { receiveMaximum: 10 } },
  publish: PUBLISH,
  bare: { ...PUBLISH, qos: 0, properties: {} },
  puback: { cmd: "puback", messageId: 3, reasonCode: 0x10, properties: { reasonString: "none" } },
  suback: { cmd: "suback", messageId: 3, granted: [0, 1, 0x87] },
  unsuback: { cmd: "unsuback", messageId: 3, granted: [0] },
  pubrel: { cmd: "pubrel", messageId: 3 },
  disconnect: { cmd: "disconnect", reasonCode: 0x8e, properties: { reasonString: "taken over" } },
};

/** What announces 256 MiB, has no length, says a property twice or cut off, an alias that nobody has made known, QoS 2 and 3. */
const OUTRAGES = [
  "30 ff ff ff 7f",
  "30 80 80 80 80 01",
  "00 00",
  "f0 00",
  "10 00",
  "30 0c 0001 74 08 03 0001 61 03 0001 62",
  "30 0c 0001 74 08 09 0001 61 09 0001 62",
  "30 0e 0001 74 0a 02 00000001 02 00000002",
  "30 08 0001 74 04 26 0001 61",
  "30 0a 0001 74 06 26 0001 61 00ff",
  "30 07 0001 74 03 23 0005",
  "30 06 0000 03 23 0005",
  "34 06 0001 74 0001 00",
  "36 06 0001 74 0001 00",
  "30 03 0009 74",
  "32 03 0001 74",
  "30 03 0000 00",
  "20 03 00 00 00 20 03 00 00 00",
  "e0 00",
];

function publish(fields: Partial<IPublishPacket>): Buffer {
  return generate({ ...PUBLISH, properties: {}, ...fields }, V5);
}
