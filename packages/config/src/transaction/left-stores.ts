import type { StoredConfig } from "@bridge/ports";
import type { LeftBehind } from "./left-behind.ts";
import { movedStores } from "./moved-stores.ts";
import type { NamedStores, StoresOf } from "./named-stores.ts";
import { placesOf, whyElsewhere } from "./store-places.ts";

/** What a document that ran has left, of which nobody knows yet whether anything is in it. */
export type LeftStores = Pick<LeftBehind, "leftStores" | "stores" | "places" | "unusable">;

/** What is left in the stores of `tried` when `runs` does in its place. */
export async function leftStoresOf(tried: StoredConfig, runs: NamedStores, storesOf: StoresOf): Promise<LeftStores> {
  const stores = await storesOf(tried.document);
  const leftStores = movedStores(runs, stores, tried.places);
  return { leftStores, stores, places: tried.places, unusable: whyElsewhere(tried, stores) };
}

/**
 * The same, when another process has tried it out, which had stores of its own: what it has noted counts. Stores that
 * this process has, too, are open here, and nothing leaves them while something waits.
 */
export async function leftStoresBeside(
  { former, tried }: { readonly former: StoredConfig; readonly tried: StoredConfig },
  storesOf: StoresOf,
): Promise<LeftStores> {
  const stores = await storesOf(tried.document);
  const { places = {} } = tried;
  const here = placesOf(stores);
  const leftStores = (["outbox", "dlq"] as const).filter((role) => {
    const place = places[role];
    return place !== undefined && place !== former.places?.[role] && place !== here[role];
  });
  return { leftStores, stores, places, unusable: whyElsewhere(tried, stores) };
}
