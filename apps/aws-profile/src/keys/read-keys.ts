import { apiKeys, type HostProcess } from "@bridge/host";
import type { MonitorKeys } from "@bridge/http-monitor";
import type { SecretReader } from "@bridge/secrets-aws";
import type { Bootstrap } from "../bootstrap/bootstrap.ts";
import { keyValueOf, type KeyValue } from "./key-value.ts";

type KeyParams = Pick<Bootstrap, "adminKeyParam" | "monitorKeyParam" | "wantsAdmin">;

/**
 * The keys as they are now in AWS, and those of the environment where the bootstrap document names none (contract §3).
 * @throws Error naming the key of the document; it never shows a key
 */
export async function readKeys(
  { adminKeyParam, monitorKeyParam, wantsAdmin }: KeyParams,
  secrets: SecretReader,
  env: HostProcess["env"],
  signal: AbortSignal,
): Promise<MonitorKeys> {
  const fromEnvironment = apiKeys(undefined, env);
  const [admin, monitor] = await Promise.all([
    valueOf("admin_api_key_param", adminKeyParam, secrets, signal),
    valueOf("monitor_api_key_param", monitorKeyParam, secrets, signal),
  ]);
  const adminApiKey = admin === undefined ? fromEnvironment.adminApiKey : admin.single;
  const monitorApiKey = monitor === undefined ? fromEnvironment.monitorApiKey : monitor.single;
  if (wantsAdmin && admin === undefined && adminApiKey === undefined)
    throw new Error("admin_addr: the admin server has no key: give admin_api_key_param or BRIDGE_ADMIN_API_KEY");
  return { adminApiKey, adminApiKeys: admin?.named, monitorApiKey, monitorApiKeys: stringsOf(monitor?.named) };
}

/** @throws Error for a key with a role: those of the monitor server open the same */
function stringsOf(named: KeyValue["named"]): Readonly<Record<string, string>> | undefined {
  if (named === undefined) return undefined;
  const strings = Object.entries(named).map(([name, key]) => {
    if (typeof key !== "string")
      throw new Error("monitor_api_key_param: keys of the monitor server have no roles: give each as a string");
    return [name, key] as const;
  });
  return Object.fromEntries(strings);
}

async function valueOf(key: string, name: string | undefined, secrets: SecretReader, signal: AbortSignal) {
  if (name === undefined) return undefined;
  try {
    return keyValueOf(await secrets.read(name, signal));
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof Error ? error.message : "it cannot be read";
    throw new Error(`${key}: ${JSON.stringify(name)}: ${why}`, { cause: error });
  }
}
