import type { IPublishPacket, Packet } from "mqtt-packet";
import { parser } from "mqtt-packet";
import { readPayload } from "../message.ts";
import type { Ledger } from "./ledger.ts";
import type { Sends } from "./sends.ts";
import type { Listener } from "./tap.ts";

const PROTOCOL_VERSION = 5;
/** From here on a reason code says that the message was not taken. */
const FAILURE = 0x80;

/** Listens between the bridge and its source's broker: what was handed over, and what was acknowledged. */
export function mqttSourceListener(ledger: Ledger): Listener {
  const held = new Map<number, string>();
  return {
    fromServer: reader((packet) => {
      if (packet.cmd !== "publish" || packet.qos === 0) return;
      const id = idIn(packet);
      held.set(packet.messageId ?? 0, id);
      ledger.handed(id);
    }),
    fromClient: reader((packet) => {
      if (packet.cmd !== "puback") return;
      const id = held.get(packet.messageId ?? 0);
      held.delete(packet.messageId ?? 0);
      if (id !== undefined) ledger.settled(id);
    }),
    ended: () => held.clear(),
  };
}

/** Listens between the bridge and its target's broker: what was sent, and what was confirmed. */
export function mqttTargetListener(sends: Sends, onEnd: () => void): Listener {
  return {
    fromClient: reader((packet) => {
      if (packet.cmd === "publish" && packet.qos > 0) sends.begin(packet.messageId ?? 0, idIn(packet));
    }),
    fromServer: reader((packet) => {
      if (packet.cmd === "puback") sends.end(packet.messageId ?? 0, (packet.reasonCode ?? 0) < FAILURE);
    }),
    ended: onEnd,
  };
}

function reader(onPacket: (packet: Packet) => void): (bytes: Buffer) => void {
  const packets = parser({ protocolVersion: PROTOCOL_VERSION });
  packets.on("packet", onPacket);
  packets.on("error", (error: Error) => {
    throw new Error(`the tap cannot read what passes through it: ${error.message}`);
  });
  return (bytes) => packets.parse(bytes);
}

function idIn({ payload }: IPublishPacket): string {
  return readPayload(payload as Buffer).id;
}
