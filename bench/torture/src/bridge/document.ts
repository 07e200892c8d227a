import { LANE_HEADER } from "../message.ts";
import { hasOutbox, type Mode, modeOf, type RouteName, ROUTES, type StoreType } from "../routes.ts";

export interface DocumentOptions {
  readonly routes: readonly RouteName[];
  readonly mode: Mode;
  readonly stores: StoreType;
  readonly folders: { readonly dlq: string; readonly outbox: string };
  readonly adminKey: string;
  readonly ports: {
    readonly admin: number;
    readonly monitor: number;
    /** Where the bridge takes requests in. */
    readonly ingest: number;
    /** Where it reaches the others: through the links, and past the taps. */
    readonly source: number;
    readonly target: number;
    readonly web: number;
  };
}

/** Messages of each route that are held at once. */
const WINDOW = 50;

/** Requests to a path below are messages of that route. */
export const ingestPath = (route: RouteName): string => `/in/${route}`;
export const sourceTopic = (route: RouteName): string => `in/${route}`;
export const TARGET_TOPICS = "out/#";

/** A broker that is silent for three seconds is taken for lost; a send has failed after five. */
const MQTT = { keep_alive: "2s", connect_timeout: "3s" } as const;
/** Messages are given up after three seconds of an outage, so that it makes dead letters. */
const ATTEMPTS = 6;
/** Where dead letters die with the process, nothing may be given up. */
const HOLDS_ON = { replay_budget: "24h" } as const;
/** Longer than the torture, and than the clock ever jumps: no evidence against duplicates may be forgotten. */
const RETENTION = "12h";

/** The configuration document of the bridge under torture. */
export function documentOf(options: DocumentOptions): object {
  const { routes, ports, mode, stores, folders } = options;
  const mqttSources = routes.filter((route) => ROUTES[route].source === "mqtt");
  const httpSources = routes.filter((route) => ROUTES[route].source === "http");
  const targets = new Set(routes.map((route) => ROUTES[route].target));
  return {
    bridge: { id: "torture", instance_id: "torture", terminal_linger: "100ms" },
    http: {
      admin_addr: `127.0.0.1:${ports.admin}`,
      monitor_addr: `127.0.0.1:${ports.monitor}`,
      admin_api_key: options.adminKey,
    },
    audit: { log: false },
    stores: {
      dlq: storeOf(stores, `${folders.dlq}/dlq.db`),
      ...(hasOutbox(options) && { outbox: storeOf(stores, `${folders.outbox}/outbox.db`, RETENTION) }),
    },
    sessions: [
      ...mqttSources.map((route) => sessionTo(route, ports.source)),
      ...(targets.has("mqtt") ? [sessionTo("target", ports.target)] : []),
    ],
    receivers: [
      ...mqttSources.map((route) => ({
        id: route,
        session_id: route,
        topics: [{ topic: sourceTopic(route), qos: 1 }],
      })),
      ...httpSources.map((route) => ({
        id: route,
        transport: "http",
        options: { addr: `127.0.0.1:${ports.ingest}`, path: ingestPath(route), response_timeout: "5s" },
      })),
    ],
    senders: [
      ...(targets.has("mqtt") ? [{ id: "to-mqtt", session_id: "target", options: { qos: 1 } }] : []),
      ...(targets.has("http")
        ? [
            {
              id: "to-http",
              transport: "http",
              options: { url: `http://127.0.0.1:${ports.web}`, connect_timeout: "3s" },
            },
          ]
        : []),
    ],
    bindings: routes.map((route) => ({
      id: route,
      sender_id: `to-${ROUTES[route].target}`,
      address: ROUTES[route].target === "mqtt" ? `out/{${LANE_HEADER}}` : `/keep/{${LANE_HEADER}}`,
    })),
    routes: routes.map((route) => ({
      id: route,
      receiver_id: route,
      delivery_mode: modeOf(route, mode),
      bindings: [route],
      policy: {
        max_in_flight: WINDOW,
        send_timeout: "5s",
        backoff: { initial_interval: "100ms", max_interval: "1s" },
        on_permanent_failure: "dlq",
        on_expired: "dlq",
        on_filtered: "dlq",
        max_replay_attempts: ATTEMPTS,
        ...(stores === "memory" && HOLDS_ON),
      },
    })),
  };
}

function storeOf(type: StoreType, path: string, retention?: string): object {
  const options = {
    ...(type === "file" ? { path } : { acknowledge_volatile: true }),
    ...(retention !== undefined && { retention }),
  };
  return { type, options };
}

function sessionTo(id: string, port: number): object {
  return {
    id,
    transport: "mqtt",
    session_mode: "persistent",
    options: { broker_urls: [`mqtt://127.0.0.1:${port}`], client_id: `torture-${id}`, ...MQTT },
  };
}
