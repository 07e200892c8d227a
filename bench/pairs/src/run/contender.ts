import type { PairName } from "../pair.ts";

/** Who carries messages; `script` is the yardstick, the next three are the bridge, the others are what else does such work. */
export const CONTENDERS = [
  "script",
  "direct_hold",
  "shared_outbox",
  "postgres_outbox",
  "mosquitto",
  "shovel",
  "node-red",
] as const;
export type Contender = (typeof CONTENDERS)[number];

export const MODES = ["direct_hold", "shared_outbox", "postgres_outbox"] as const satisfies readonly Contender[];
export type Mode = (typeof MODES)[number];

export const PEERS = ["mosquitto", "shovel", "node-red"] as const satisfies readonly Contender[];
export type Peer = (typeof PEERS)[number];

/** The one pair that each can carry. */
export const PEER_PAIRS: Readonly<Record<Peer, PairName>> = {
  mosquitto: "mqtt-mqtt",
  shovel: "amqp-amqp",
  "node-red": "mqtt-mqtt",
};
