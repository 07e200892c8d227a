import { join } from "node:path";
import type { Broker } from "./broker.ts";
import { type BrokerOptions, startConfigured } from "./configured-broker.ts";

/** A NATS server with JetStream, whose streams and consumers are in files. */
export function startNats(options: BrokerOptions): Promise<Broker> {
  const { port, folder } = options;
  const lines = [
    `listen: "127.0.0.1:${port}"`,
    `jetstream { store_dir: "${join(folder, "streams")}" }`,
    `log_file: "${join(folder, "nats.log")}"`,
  ];
  return startConfigured("nats-server", lines, options);
}
