import type { StorePlaces } from "@bridge/ports";
import { samePlace } from "../same-place.ts";
import { LEFT_ROLES, type NamedStores } from "./named-stores.ts";
import { placesOf } from "./store-places.ts";
import type { Stranded } from "./stranding.ts";

/**
 * The stores of `to` that outlast a process, and that `from` has not, or elsewhere.
 *
 * @param noted where they were when `to` ran, which counts. Default: where it has them now
 */
export function movedStores(from: NamedStores, to: NamedStores, noted: StorePlaces = {}): readonly Stranded["store"][] {
  const here = placesOf(from);
  return LEFT_ROLES.filter((role) => {
    if (noted[role] !== undefined) return noted[role] !== here[role];
    const store = to[role];
    return store !== undefined && store.reach !== "process" && !samePlace(store, from[role]);
  });
}
