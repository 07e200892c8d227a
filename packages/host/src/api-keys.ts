import type { ApiKey, HttpSection } from "@bridge/config";
import type { AdminKey } from "@bridge/http-kit";
import type { MonitorKeys } from "@bridge/http-monitor";
import type { HostProcess } from "./host-process.ts";

const MIN_KEY_LENGTH = 16;

/**
 * The keys of the configuration, else those of the environment (contract §3).
 * @throws Error when an `http` block comes without an admin key, or a key is shorter than spec 5.4 allows
 */
export function apiKeys(http: HttpSection | undefined, env: HostProcess["env"]): MonitorKeys {
  const adminApiKey = http?.adminApiKey || fromEnvironment("BRIDGE_ADMIN_API_KEY", env);
  const monitorApiKey = http?.monitorApiKey || fromEnvironment("BRIDGE_MONITOR_API_KEY", env);
  const named = http?.apiKeys ?? [];
  if (http !== undefined && adminApiKey === undefined && named.length === 0) {
    throw new Error(
      "the http block has no admin key: set http.admin_api_key, http.api_keys or the environment variable BRIDGE_ADMIN_API_KEY",
    );
  }
  const adminApiKeys = Object.fromEntries(named.map(adminKey));
  return { adminApiKey, ...(named.length > 0 && { adminApiKeys }), monitorApiKey };
}

function adminKey({ id, key, role, permissions = [] }: ApiKey): readonly [name: string, key: AdminKey] {
  return [id, role === undefined ? { key, permissions } : { key, role }];
}

/** A key of the environment; an empty one counts as absent. @throws Error when it is too short */
function fromEnvironment(name: string, env: HostProcess["env"]): string | undefined {
  const key = env[name];
  if (key === undefined || key === "") return undefined;
  if (key.length < MIN_KEY_LENGTH) {
    throw new Error(
      `the key in the environment variable ${name} is too short: use at least ${MIN_KEY_LENGTH} characters`,
    );
  }
  return key;
}
