import type { StoredConfig } from "@bridge/ports";
import type { BridgeConfig } from "../model.ts";
import type { LeftBehind } from "./left-behind.ts";
import { movedStores } from "./moved-stores.ts";
import type { StoresOf } from "./named-stores.ts";

/** What is left behind in the stores of `former`, which is not run again, when `runs` does; `undefined` when both have the same stores. */
export async function leftByDeparture(
  { version, document }: StoredConfig,
  runs: Pick<BridgeConfig, "stores">,
  unusable: string | undefined,
  storesOf: StoresOf,
): Promise<LeftBehind | undefined> {
  const stores = await storesOf(document);
  const leftStores = movedStores(runs.stores, stores);
  return leftStores.length === 0 ? undefined : { version, leftStores, stores, unusable };
}
