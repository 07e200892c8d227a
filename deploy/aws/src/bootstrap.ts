import type { Deployment } from "./deployment.ts";
import type { Keys } from "./keys.ts";
import { PORTS } from "./network.ts";

/** What the process is started with: where its configuration and its keys are, never what they are. */
export function bootstrapOf(deployment: Deployment, keys: Keys): Readonly<Record<string, string>> {
  return {
    bridge_id: deployment.bridge_id,
    config_source: "dynamodb",
    config_table: `bridge-${deployment.bridge_id}-config`,
    admin_api_key_param: keys.admin,
    monitor_api_key_param: keys.monitor,
    admin_addr: `:${PORTS.admin}`,
    monitor_addr: `:${PORTS.monitor}`,
  };
}
