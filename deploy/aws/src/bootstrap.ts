import type { Deployment } from "./deployment.ts";
import type { Keys } from "./keys.ts";
import { NAMESPACE } from "./metrics.ts";
import { PORTS } from "./network.ts";
import { tableNameOf } from "./stores.ts";

/** What the process is started with: where its configuration and its keys are, never what they are. */
export function bootstrapOf(deployment: Deployment, keys: Keys): Readonly<Record<string, string>> {
  return {
    bridge_id: deployment.bridge_id,
    config_source: "dynamodb",
    config_table: tableNameOf(deployment, "config"),
    admin_api_key_param: keys.admin,
    monitor_api_key_param: keys.monitor,
    admin_addr: `:${PORTS.admin}`,
    monitor_addr: `:${PORTS.monitor}`,
    metrics: "emf",
    metrics_namespace: NAMESPACE,
    // Alarms look at each minute, over all instances: each has to have said something in it.
    metrics_interval: "30s",
  };
}
