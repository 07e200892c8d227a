import type { UsualServers } from "@bridge/config";
import type { HostProcess } from "./host-process.ts";

/** Where the servers listen that a configuration says nothing of (spec 1.7). */
export const USUAL_ADDRESS = { admin: ":8080", monitor: ":8081" } as const;

/** Those of a process in this environment: without a key there is no admin server. */
export function usualServers(env: HostProcess["env"]): UsualServers {
  const hasKey = (env["BRIDGE_ADMIN_API_KEY"] ?? "") !== "";
  return { monitorAddr: USUAL_ADDRESS.monitor, ...(hasKey && { adminAddr: USUAL_ADDRESS.admin }) };
}
