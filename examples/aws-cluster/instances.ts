import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Command, Place } from "../cluster/instance.ts";
import { BRIDGE_ID, CONFIG_TABLE } from "./configuration.ts";

const BINARY = fileURLToPath(new URL("../../apps/aws-profile/dist/main.js", import.meta.url));

export const ADMIN_PARAMETER = "/plant-7/admin-api-key";

/** The bootstrap document of an instance. */
function bootstrapFor({ name, admin, monitor }: Place): string {
  return JSON.stringify({
    bridge_id: BRIDGE_ID,
    instance_id: `${BRIDGE_ID}-${name}`,
    config_source: "dynamodb",
    config_table: CONFIG_TABLE,
    poll_interval: "1s",
    admin_api_key_param: ADMIN_PARAMETER,
    admin_addr: `127.0.0.1:${admin}`,
    monitor_addr: `127.0.0.1:${monitor}`,
    metrics: "none",
  });
}

/** What runs an instance. */
export function commandFor(place: Place, env: Readonly<Record<string, string>>): Command {
  return { file: BINARY, env: { ...env, BRIDGE_BOOTSTRAP_JSON: bootstrapFor(place) } };
}

/** Runs `bridge-aws -create-tables`; returns what it says. @throws Error when the binary has not been built */
export async function createTables(place: Place, env: Readonly<Record<string, string>>): Promise<string> {
  if (!existsSync(BINARY)) throw new Error("bridge-aws is not built: run this as pnpm run aws-cluster");
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [BINARY, "-create-tables"], { env: commandFor(place, env).env });
  return stdout;
}
