import { connectAsync, type MqttClient } from "mqtt";
import { sourceTopic } from "../bridge/document.ts";
import { LANE_HEADER, payloadOf } from "../message.ts";
import type { RouteName } from "../routes.ts";
import type { Ledger } from "./ledger.ts";
import type { Marks, Source } from "./source.ts";

const SESSION_EXPIRY_S = 86_400;
const RECONNECT_MS = 100;
const CONNECT_TIMEOUT_MS = 5_000;
const KEEPALIVE_S = 3;

/** A connection of the auditor's own to a broker, with a session that outlives it. */
export function connectTo(port: number, clientId: string): Promise<MqttClient> {
  return connectAsync(`mqtt://127.0.0.1:${port}`, {
    clientId,
    protocolVersion: 5,
    clean: false,
    properties: { sessionExpiryInterval: SESSION_EXPIRY_S },
    keepalive: KEEPALIVE_S,
    reconnectPeriod: RECONNECT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
  });
}

/** Publishes at QoS 1; the client repeats after a lost connection what the broker has not acknowledged. */
export class MqttSource implements Source {
  readonly #client: MqttClient;
  readonly #route: RouteName;
  readonly #ledger: Ledger;
  #open = 0;

  constructor(client: MqttClient, route: RouteName, ledger: Ledger) {
    this.#client = client;
    this.#route = route;
    this.#ledger = ledger;
  }

  get open(): number {
    return this.#open;
  }

  offer(id: string, { lane, orderingKey }: Marks): void {
    this.#open++;
    this.#ledger.offered(id);
    const userProperties = {
      "message-id": id,
      ...(lane !== undefined && { [LANE_HEADER]: lane }),
      ...(orderingKey !== undefined && { "ordering-key": orderingKey }),
    };
    this.#client.publish(
      sourceTopic(this.#route),
      payloadOf(id),
      { qos: 1, properties: { userProperties } },
      (error) => {
        this.#open--;
        if (error === undefined || error === null) this.#ledger.accepted(id);
      },
    );
  }
}
