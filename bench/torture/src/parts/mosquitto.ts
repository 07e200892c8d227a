import { join } from "node:path";
import type { Broker } from "./broker.ts";
import { type BrokerOptions, startConfigured } from "./configured-broker.ts";

/**
 * A Mosquitto that loses nothing: as it comes it drops beyond 1,000 waiting messages, and killed with SIGKILL it forgets
 * what it has acknowledged. So its queues have no limit, and it is only ever ended by SIGTERM.
 */
export function startMosquitto(options: BrokerOptions): Promise<Broker> {
  const { port, folder } = options;
  const lines = [
    // Started by root it would become another user, who cannot write here; otherwise this has no effect.
    "user root",
    `listener ${port} 127.0.0.1`,
    "allow_anonymous true",
    "set_tcp_nodelay true",
    "persistence true",
    `persistence_location ${folder}/`,
    "autosave_interval 0",
    "max_queued_messages 0",
    "max_inflight_messages 0",
    `log_dest file ${join(folder, "mosquitto.log")}`,
    "log_type error",
    "log_type warning",
  ];
  return startConfigured("mosquitto", lines, options);
}
