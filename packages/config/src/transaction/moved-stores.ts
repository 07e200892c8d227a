import { samePlace } from "../same-place.ts";
import { LEFT_ROLES, type NamedStores } from "./named-stores.ts";
import type { Stranded } from "./stranding.ts";

/** The stores of `to` that outlast a process, and that `from` has not, or elsewhere. */
export function movedStores(from: NamedStores, to: NamedStores): readonly Stranded["store"][] {
  return LEFT_ROLES.filter((role) => {
    const store = to[role];
    return store !== undefined && store.reach !== "process" && !samePlace(store, from[role]);
  });
}
