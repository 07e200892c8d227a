import { isDeepStrictEqual } from "node:util";
import type { LeftBehind } from "./left-behind.ts";

/** What was left, as far as it is kept, or has not been kept yet; and what somebody has removed. */
export interface LocatedLeft {
  readonly left: readonly LeftBehind[];
  readonly gone: readonly LeftBehind[];
}

/**
 * What was left, each with where its document is kept by now: it may have been kept, or have got another name, since it
 * was told; and one that could not be read may have been mended. One that is kept nowhere yet says so.
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
      left.push(one.stores === undefined ? { ...there, leftStores: one.leftStores } : one);
      continue;
    }
    const others = kept.filter(({ version, where }) => version === one.version && !taken.has(where));
    // What it refers to may have changed meanwhile: it is given up only when nothing of its number is there.
    const found =
      others.find(({ stores }) => isDeepStrictEqual(stores, one.stores)) ??
      (one.where === undefined ? undefined : others[0]);
    if (found !== undefined) {
      taken.add(found.where);
      left.push({ ...one, where: found.where, isKept: undefined });
    } else if (one.where === undefined) left.push(others.length === 0 ? { ...one, isKept: false } : one);
    else gone.push(one);
  }
  return { left, gone };
}
