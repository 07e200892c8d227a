import type { BridgeConfig, Registry, StoreRole } from "@bridge/config";
import { type PluginContext, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { deadline } from "@bridge/ports/internal";
import type { HostProcess } from "./host-process.ts";

/** Time for an index on a large table. */
const TIMEOUT_MS = 300_000;

/**
 * Makes the tables of the stores that a configuration names, or brings them up to date, and tells what was done
 * (`-create-tables`). Idempotent. Stores that need none, such as files, are left alone.
 *
 * @throws Error when some cannot be made
 */
export async function createTables({ stores }: BridgeConfig, registry: Registry, host: HostProcess): Promise<void> {
  using limit = deadline(systemClock, TIMEOUT_MS, new Error("the tables were not made within 5 minutes"));
  const context = { clock: systemClock, random: systemRandom(), logger: silentLogger };
  let asked = 0;
  for (const role of Object.keys(registry.stores) as StoreRole[]) {
    const store = stores[role];
    const make = store && registry.stores[role].get(store.type)?.createTables;
    if (make === undefined) continue;
    asked++;
    const lines = await make(store?.options, { ...context, id: role } satisfies PluginContext)(limit.signal);
    for (const line of lines) host.stdout.write(`${line}\n`);
  }
  if (asked === 0) host.stdout.write("the configuration names no stores with tables\n");
}
