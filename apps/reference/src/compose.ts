import type { Plugins } from "@bridge/config";
import { memoryDlqPlugin } from "@bridge/dlq-memory";
import { httpTransport } from "@bridge/transport-http";
import { memoryTransport } from "@bridge/transport-memory";
import { mqttTransport } from "@bridge/transport-mqtt";

/** What this binary is made of; the only place that knows an adapter by name. */
export function plugins(): Plugins {
  return {
    transports: [mqttTransport, httpTransport(), memoryTransport()],
    dlqStores: [memoryDlqPlugin],
  };
}
