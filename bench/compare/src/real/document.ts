import { POLICY } from "../policy.ts";
import { bindingOf, type Scenario } from "../scenario.ts";
import { headerOf, type Names, pathOf, queueOf, sourceOf, topicOf } from "./names.ts";

export const ADMIN_KEY = "compare-compare-compare";
export const ROUTE = "route";

export interface DocumentOptions extends Names {
  readonly scenario: Scenario;
  readonly own: { readonly admin: number; readonly monitor: number };
  /** Where the source is reached, and each target: through its link. */
  readonly ports: { readonly source: number; readonly targets: readonly number[] };
  readonly folder: string;
  /** Of the database, when the stores are there. */
  readonly url: string | undefined;
}

const MQTT = { keep_alive: "2s", connect_timeout: "3s" } as const;
const AMQP = { heartbeat: "2s", connect_timeout: "3s" } as const;

/** The document of a real bridge: what the plan of the simulation says, with real ends. */
export function documentOf(options: DocumentOptions): object {
  const { scenario, run, own, ports } = options;
  const { source, retry, targets, mode, drops, attempts, window } = scenario;
  const session = (id: string, transport: "mqtt" | "amqp", port: number): object => ({
    id,
    transport,
    ...(transport === "mqtt" && { session_mode: "persistent" }),
    options:
      transport === "mqtt"
        ? { broker_urls: [`mqtt://127.0.0.1:${port}`], client_id: `${run}-${id}`, ...MQTT }
        : { url: `amqp://127.0.0.1:${port}`, ...AMQP },
  });
  return {
    bridge: { id: run, instance_id: run, terminal_linger: "100ms" },
    http: {
      admin_addr: `127.0.0.1:${own.admin}`,
      monitor_addr: `127.0.0.1:${own.monitor}`,
      admin_api_key: ADMIN_KEY,
    },
    audit: { log: false },
    stores: {
      dlq: storeOf(options, "dlq"),
      ...(mode === "shared_outbox" && { outbox: storeOf(options, "outbox") }),
    },
    sessions: [
      session("source", source, ports.source),
      ...targets.flatMap((target, index) =>
        target === "http" ? [] : [session(`target${index}`, target, ports.targets[index] ?? 0)],
      ),
    ],
    receivers: [
      source === "mqtt"
        ? { id: "in", session_id: "source", topics: [{ topic: sourceOf(options), qos: 1 }] }
        : { id: "in", session_id: "source", options: { queue: sourceOf(options), queue_type: "quorum", retry } },
    ],
    senders: targets.map((target, index) =>
      target === "http"
        ? { id: `out${index}`, transport: "http", options: { url: `http://127.0.0.1:${ports.targets[index]}` } }
        : { id: `out${index}`, session_id: `target${index}`, options: target === "mqtt" ? { qos: 1 } : {} },
    ),
    bindings: targets.map((target, index) => ({
      id: bindingOf(index),
      sender_id: `out${index}`,
      address: {
        mqtt: topicOf(options, index, `{${headerOf(index)}}`),
        amqp: queueOf(options, index, `{${headerOf(index)}}`),
        http: pathOf(options, index),
      }[target],
    })),
    routes: [
      {
        id: ROUTE,
        receiver_id: "in",
        delivery_mode: mode,
        dispatch_mode: targets.length === 1 ? "single" : "fan_out",
        bindings: targets.map((_, index) => bindingOf(index)),
        policy: {
          ...POLICY,
          max_in_flight: window,
          max_replay_attempts: attempts,
          on_permanent_failure: drops ? "drop" : "dlq",
        },
      },
    ],
  };
}

function storeOf({ scenario: { store }, url, folder }: DocumentOptions, name: "dlq" | "outbox"): object {
  return store === "postgres"
    ? { type: "postgres", options: { url } }
    : { type: "file", options: { path: `${folder}/${name}.db` } };
}
