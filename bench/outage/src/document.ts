import type { DeliveryMode } from "../../torture/src/routes.ts";

export const TOPIC = "in";
/** What the bridge sends at once. */
export const WINDOW = 100;

export interface DocumentOptions {
  readonly mode: DeliveryMode;
  readonly folder: string;
  readonly adminKey: string;
  readonly ports: { readonly broker: number; readonly web: number; readonly admin: number; readonly monitor: number };
  /** Messages that will be offered in all. */
  readonly messages: number;
}

/** One route from MQTT to HTTP that gives nothing up, with everything else as it comes. */
export function documentOf({ mode, folder, adminKey, ports, messages }: DocumentOptions): object {
  return {
    bridge: { id: "outage" },
    http: {
      admin_addr: `127.0.0.1:${ports.admin}`,
      monitor_addr: `127.0.0.1:${ports.monitor}`,
      admin_api_key: adminKey,
    },
    stores: {
      dlq: { type: "file", options: { path: `${folder}/dlq.db` } },
      ...(mode === "shared_outbox" && { outbox: { type: "file", options: { path: `${folder}/outbox.db` } } }),
    },
    sessions: [{ id: "source", transport: "mqtt", options: { broker_urls: [`mqtt://127.0.0.1:${ports.broker}`] } }],
    receivers: [{ id: "in", session_id: "source", topics: [{ topic: TOPIC, qos: 1 }] }],
    senders: [{ id: "web", transport: "http", options: { url: `http://127.0.0.1:${ports.web}` } }],
    bindings: [{ id: "to-web", sender_id: "web" }],
    routes: [
      {
        id: "only",
        receiver_id: "in",
        delivery_mode: mode,
        bindings: ["to-web"],
        // The outbox takes all that is offered, so that it is its size that memory must not follow.
        policy: {
          max_in_flight: WINDOW,
          replay_budget: "24h",
          ...(mode === "shared_outbox" && { max_outbox_depth: messages }),
        },
      },
    ],
  };
}
