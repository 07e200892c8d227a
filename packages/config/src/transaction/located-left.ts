import { isDeepStrictEqual } from "node:util";
import type { LeftBehind } from "./left-behind.ts";
import { samePlaces } from "./store-places.ts";

/** What was left, as far as it is kept, or has not been kept yet; what was kept meanwhile; and what somebody has removed. */
export interface LocatedLeft {
  readonly left: readonly LeftBehind[];
  readonly found: readonly LeftBehind[];
  readonly gone: readonly LeftBehind[];
}

/**
 * What was left, each with where its document is kept by now: it may have been kept, or have got another name, since it
 * was told; and one that could not be read may have been mended. What is the matter with it is what is the matter with
 * what is kept, now. One that is kept nowhere yet says so.
 */
export function locatedLeft(all: readonly LeftBehind[], kept: readonly LeftBehind[]): LocatedLeft {
  const byPlace = new Map(kept.flatMap((one) => (one.where === undefined ? [] : [[one.where, one] as const])));
  const at = ({ where }: LeftBehind): LeftBehind | undefined => (where === undefined ? undefined : byPlace.get(where));
  const taken = new Set<string | undefined>(all.flatMap((left) => at(left)?.where ?? []));
  const left: LeftBehind[] = [];
  const gone: LeftBehind[] = [];
  for (const one of all) {
    const there = at(one);
    if (there !== undefined) {
      left.push(seenAnew(one, there));
      continue;
    }
    const others = kept.filter(({ version, where }) => version === one.version && !taken.has(where));
    // Another process on the same document, with stores of its own, may have left something of that number, too.
    const same = others.filter(({ places }) => samePlaces(places, one.places));
    // What it refers to may have changed meanwhile: it is given up when nothing of its number and its places is there.
    const found =
      same.find(({ stores }) => isDeepStrictEqual(stores, one.stores)) ??
      (one.where === undefined ? undefined : same[0]);
    if (found !== undefined) {
      taken.add(found.where);
      left.push(seenAnew(one, found));
    } else if (one.where === undefined) left.push(others.length === 0 ? { ...one, isKept: false } : one);
    else gone.push(one);
  }
  return { left, found: kept.filter(({ where }) => !taken.has(where)), gone };
}

/** Which stores it had is as it was seen first: where a reference in it leads by now, it has left nothing. */
function seenAnew(one: LeftBehind, kept: LeftBehind): LeftBehind {
  const { version, leftStores, stores = kept.stores, places = kept.places, failed } = one;
  return { ...kept, version, leftStores, stores, places, failed };
}
