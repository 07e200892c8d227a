import type { BridgeDocument, Part } from "../../../torture/src/bridge/document.ts";
import type { SideName } from "../sides.ts";

/** Where the brokers themselves listen. */
export interface BrokerPorts {
  readonly sourceMqtt: number;
  readonly targetMqtt: number;
  readonly amqp: number;
  readonly sourceNats: number;
  readonly targetNats: number;
}

export interface HostilePartsOptions {
  readonly side: SideName;
  readonly own: { readonly ingest: number };
  readonly brokers: BrokerPorts;
  /** Of a web service that takes anything. */
  readonly sink: number;
}

/** Where hostile messages come in, one of each transport. */
export const hostileTopic = (side: SideName): string => `hostile/${side}`;
/** The same for those that go on through memory. */
export const memoryTopic = (side: SideName): string => `hostile-memory/${side}`;
export const hostileQueue = (side: SideName): string => `hostile.${side}`;
export const HOSTILE_STREAM = "HOSTILE";
export const hostileSubject = (side: SideName): string => `hostile.${side}`;
/** Of the requests that are hostile. */
const HOSTILE_PATH = "/ingest";
/** Where they go at the targets. Nobody reads them there. */
export const HOSTILE_OUT = {
  topic: "hostile/out",
  exchange: "hostile",
  stream: "HOSTILE",
  subject: "hostile.out",
} as const;

const POLICY = {
  max_in_flight: 20,
  send_timeout: "5s",
  backoff: { initial_interval: "100ms", max_interval: "1s" },
  on_permanent_failure: "dlq",
  on_expired: "dlq",
  max_replay_attempts: 3,
} as const;

/** Routes for messages that nobody would write, each from one transport to another, on sessions of their own. */
export function hostileParts({
  side,
  own,
  brokers,
  sink,
}: HostilePartsOptions): Pick<BridgeDocument, "sessions" | "receivers" | "senders" | "bindings" | "routes"> {
  const channel = "hostile";
  return {
    sessions: [
      mqtt(side, "hostile-mqtt", brokers.sourceMqtt),
      mqtt(side, "hostile-to-mqtt", brokers.targetMqtt),
      amqp("hostile-amqp", brokers.amqp),
      amqp("hostile-to-amqp", brokers.amqp),
      nats("hostile-nats", brokers.sourceNats),
      nats("hostile-to-nats", brokers.targetNats),
    ],
    receivers: [
      { id: "hostile-mqtt", session_id: "hostile-mqtt", topics: [{ topic: hostileTopic(side), qos: 1 }] },
      { id: "hostile-before-memory", session_id: "hostile-mqtt", topics: [{ topic: memoryTopic(side), qos: 1 }] },
      {
        id: "hostile-amqp",
        session_id: "hostile-amqp",
        options: { queue: hostileQueue(side), queue_type: "classic", declare: true },
      },
      {
        id: "hostile-nats",
        session_id: "hostile-nats",
        options: {
          stream: HOSTILE_STREAM,
          consumer: `hostile-${side}`,
          create: true,
          filter_subject: hostileSubject(side),
          ack_wait: "2s",
        },
      },
      {
        id: "hostile-http",
        transport: "http",
        options: { addr: `127.0.0.1:${own.ingest}`, path: HOSTILE_PATH, response_timeout: "5s" },
      },
      { id: "hostile-memory", transport: "memory", options: { channel } },
    ],
    senders: [
      { id: "hostile-to-mqtt", session_id: "hostile-to-mqtt", options: { qos: 1 } },
      {
        id: "hostile-to-amqp",
        session_id: "hostile-to-amqp",
        options: { exchange: HOSTILE_OUT.exchange, mandatory: false },
      },
      { id: "hostile-to-nats", session_id: "hostile-to-nats", options: { stream: HOSTILE_OUT.stream } },
      { id: "hostile-to-http", transport: "http", options: { url: `http://127.0.0.1:${sink}`, connect_timeout: "3s" } },
      { id: "hostile-to-memory", transport: "memory" },
    ],
    bindings: [
      { id: "hostile-to-mqtt", sender_id: "hostile-to-mqtt", address: HOSTILE_OUT.topic },
      { id: "hostile-to-amqp", sender_id: "hostile-to-amqp", address: "any" },
      { id: "hostile-to-nats", sender_id: "hostile-to-nats", address: HOSTILE_OUT.subject },
      { id: "hostile-to-http", sender_id: "hostile-to-http", address: "/hostile" },
      { id: "hostile-to-memory", sender_id: "hostile-to-memory", address: channel },
    ],
    routes: [
      route("hostile-mqtt", "hostile-to-nats", "shared_outbox"),
      route("hostile-before-memory", "hostile-to-memory", "direct_hold"),
      route("hostile-amqp", "hostile-to-http", "shared_outbox"),
      route("hostile-nats", "hostile-to-amqp", "direct_hold"),
      route("hostile-http", "hostile-to-mqtt", "shared_outbox"),
      route("hostile-memory", "hostile-to-http", "direct_hold"),
    ],
  };
}

function route(id: string, binding: string, mode: "direct_hold" | "shared_outbox"): Part {
  return { id, receiver_id: id, delivery_mode: mode, bindings: [binding], policy: POLICY };
}

function mqtt(side: SideName, id: string, port: number): Part {
  const options = {
    broker_urls: [`mqtt://127.0.0.1:${port}`],
    client_id: `soak-${side}-${id}`,
    keep_alive: "2s",
    connect_timeout: "3s",
  };
  return { id, transport: "mqtt", session_mode: "persistent", options };
}

function amqp(id: string, port: number): Part {
  const options = { url: `amqp://127.0.0.1:${port}`, heartbeat: "1s", connect_timeout: "3s" };
  return { id, transport: "amqp", options };
}

function nats(id: string, port: number): Part {
  const options = { servers: [`nats://127.0.0.1:${port}`], ping_interval: "1s", connect_timeout: "3s" };
  return { id, transport: "nats", options };
}
