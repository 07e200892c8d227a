import type { StoredConfig } from "@bridge/ports";
import type { BridgeConfig } from "../model.ts";
import type { LeftBehind } from "./left-behind.ts";
import { leftStoresOf } from "./left-stores.ts";
import type { StoresOf } from "./named-stores.ts";

/**
 * What is left behind in the stores of `former`, which is not run again, when `runs` does; `undefined` when both have
 * the same stores.
 *
 * @param failed why the start could not run it. `undefined`: nothing was the matter with it
 */
export async function leftByDeparture(
  former: StoredConfig,
  runs: Pick<BridgeConfig, "stores">,
  failed: string | undefined,
  storesOf: StoresOf,
): Promise<LeftBehind | undefined> {
  const left = await leftStoresOf(former, runs.stores, storesOf);
  return left.leftStores.length === 0
    ? undefined
    : { ...left, version: former.version, ...(failed !== left.unusable && { failed }) };
}
