import { LANE_HEADER } from "../message.ts";
import type { EndPorts } from "../auditor/job.ts";
import {
  endsOf,
  hasOutbox,
  type Mode,
  modeOf,
  type RouteName,
  sourceOf,
  type StoreType,
  targetOf,
  type Transport,
} from "../routes.ts";

/** A part of the document that has an id. */
export type Part = Readonly<Record<string, unknown>> & { readonly id: string };

/** A document as far as others add to it. */
export interface BridgeDocument {
  readonly bridge: Readonly<Record<string, unknown>>;
  readonly http: object;
  readonly audit: object;
  readonly stores: Readonly<Record<string, object>>;
  readonly sessions: readonly Part[];
  readonly receivers: readonly Part[];
  readonly senders: readonly Part[];
  readonly bindings: readonly Part[];
  readonly routes: readonly Part[];
}

export interface DocumentOptions {
  /** Of the bridge; no other has it. */
  readonly name: string;
  readonly routes: readonly RouteName[];
  readonly mode: Mode;
  readonly stores: StoreType;
  readonly folders: { readonly dlq: string; readonly outbox: string };
  /** The server of stores of that type. */
  readonly postgres: string | undefined;
  /** How long the outbox keeps evidence against duplicates. */
  readonly retention: string;
  readonly adminKey: string;
  /** Where the bridge listens. */
  readonly own: { readonly admin: number; readonly monitor: number; readonly ingest: number };
  /** Where it reaches the others: through the links, and past the taps. */
  readonly reached: Readonly<EndPorts>;
}

/** Messages of each route that are held at once. */
const WINDOW = 50;

/** Requests to a path below are messages of that route. */
export const ingestPath = (route: RouteName): string => `/in/${route}`;
export const sourceTopic = (route: RouteName): string => `in/${route}`;
export const TARGET_TOPICS = "out/#";
export const sourceQueue = (route: RouteName): string => `in.${route}`;
export const TARGET_EXCHANGE = "torture";
export const TARGET_QUEUE = "out";
export const sourceSubject = (route: RouteName): string => `in.${route}`;
export const SOURCE_STREAM = { name: "IN", subjects: "in.>" } as const;
export const TARGET_STREAM = { name: "OUT", subjects: "out.>" } as const;

/** A send that is not confirmed within this has failed, and is tried again. */
export const SEND_TIMEOUT_MS = 5_000;
/** A broker that is silent for three seconds is taken for lost. */
const MQTT = { keep_alive: "2s", connect_timeout: "3s" } as const;
export const AMQP = { heartbeat: "1s", connect_timeout: "3s" } as const;
const NATS = { ping_interval: "1s", connect_timeout: "3s" } as const;
/** What a killed bridge held comes again after this, and nothing else meanwhile when that was all of the window. */
const ACK_WAIT = "2s";
/** Messages are given up after three seconds of an outage, so that it makes dead letters. */
const ATTEMPTS = 6;
/** Where dead letters die with the process, nothing may be given up. */
const HOLDS_ON = { replay_budget: "24h" } as const;
/** What becomes of a message that cannot be delivered, in the binary and in code. */
export const POLICY = {
  max_in_flight: WINDOW,
  send_timeout: `${SEND_TIMEOUT_MS}ms`,
  backoff: { initial_interval: "100ms", max_interval: "1s" },
  on_permanent_failure: "dlq",
  on_expired: "dlq",
  on_filtered: "dlq",
  max_replay_attempts: ATTEMPTS,
} as const;

/** The configuration document of the bridge under torture. */
export function documentOf(options: DocumentOptions): BridgeDocument {
  const { name, routes, own, mode, stores, folders, retention } = options;
  const targets = [...new Set(routes.map(targetOf))];
  return {
    bridge: { id: name, instance_id: name, terminal_linger: "100ms" },
    http: {
      admin_addr: `127.0.0.1:${own.admin}`,
      monitor_addr: `127.0.0.1:${own.monitor}`,
      admin_api_key: options.adminKey,
    },
    audit: { log: false },
    stores: {
      dlq: storeOf(options, `${folders.dlq}/dlq.db`),
      ...(hasOutbox(options) && { outbox: storeOf(options, `${folders.outbox}/outbox.db`, retention) }),
    },
    sessions: sessionsOf(options),
    receivers: routes.map((route) => receiverOf(route, own.ingest)),
    senders: targets.map((target) => SENDERS[target](options)),
    bindings: routes.map((route) => ({
      id: route,
      sender_id: `to-${targetOf(route)}`,
      address: ADDRESSES[targetOf(route)],
    })),
    routes: routes.map((route) => ({
      id: route,
      receiver_id: route,
      delivery_mode: modeOf(route, mode),
      bindings: [route],
      policy: { ...POLICY, ...(stores === "memory" && HOLDS_ON) },
    })),
  };
}

/** Each route from MQTT has a session of its own, those from AMQP share one, and so do those from NATS. */
function sessionsOf({ name, routes, reached }: DocumentOptions): readonly Part[] {
  const ends = endsOf(routes);
  const fromMqtt = routes.filter((route) => sourceOf(route) === "mqtt");
  return [
    ...fromMqtt.map((route) => mqttSession(name, route, reached.source_mqtt)),
    ...(ends.has("target_mqtt") ? [mqttSession(name, "target", reached.target_mqtt)] : []),
    ...(["source_amqp", "target_amqp"] as const)
      .filter((end) => ends.has(end))
      .map((end) => ({ id: end, transport: "amqp", options: { url: `amqp://127.0.0.1:${reached[end]}`, ...AMQP } })),
    ...(["source_nats", "target_nats"] as const)
      .filter((end) => ends.has(end))
      .map((end) => ({
        id: end,
        transport: "nats",
        options: { servers: [`nats://127.0.0.1:${reached[end]}`], ...NATS },
      })),
  ];
}

function receiverOf(route: RouteName, ingest: number): Part {
  switch (sourceOf(route)) {
    case "mqtt":
      return { id: route, session_id: route, topics: [{ topic: sourceTopic(route), qos: 1 }] };
    case "http":
      return {
        id: route,
        transport: "http",
        options: { addr: `127.0.0.1:${ingest}`, path: ingestPath(route), response_timeout: "5s" },
      };
    case "amqp":
      // What has an ordering key is held all the same, so that both ways to try again are tortured.
      return {
        id: route,
        session_id: "source_amqp",
        options: { queue: sourceQueue(route), declare: true, retry: "requeue" },
      };
    case "nats":
      return {
        id: route,
        session_id: "source_nats",
        options: {
          stream: SOURCE_STREAM.name,
          consumer: route,
          create: true,
          filter_subject: sourceSubject(route),
          ack_wait: ACK_WAIT,
        },
      };
  }
}

const SENDERS: Readonly<Record<Transport, (options: DocumentOptions) => Part>> = {
  mqtt: () => ({ id: "to-mqtt", session_id: "target", options: { qos: 1 } }),
  http: ({ reached }) => ({
    id: "to-http",
    transport: "http",
    options: { url: `http://127.0.0.1:${reached.target_http}`, connect_timeout: "3s" },
  }),
  amqp: () => ({ id: "to-amqp", session_id: "target_amqp", options: { exchange: TARGET_EXCHANGE } }),
  nats: () => ({ id: "to-nats", session_id: "target_nats", options: { stream: TARGET_STREAM.name } }),
};

const ADDRESSES: Readonly<Record<Transport, string>> = {
  mqtt: `out/{${LANE_HEADER}}`,
  http: `/keep/{${LANE_HEADER}}`,
  amqp: `out.{${LANE_HEADER}}`,
  nats: `out.{${LANE_HEADER}}`,
};

function storeOf({ stores: type, postgres }: DocumentOptions, path: string, retention?: string): object {
  const places = { file: { path }, postgres: { url: postgres }, memory: { acknowledge_volatile: true } } as const;
  return { type, options: { ...places[type], ...(retention !== undefined && { retention }) } };
}

function mqttSession(name: string, id: string, port: number | undefined): Part {
  return {
    id,
    transport: "mqtt",
    session_mode: "persistent",
    options: { broker_urls: [`mqtt://127.0.0.1:${port}`], client_id: `${name}-${id}`, ...MQTT },
  };
}
