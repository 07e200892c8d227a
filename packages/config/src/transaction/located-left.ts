import { isDeepStrictEqual } from "node:util";
import type { LeftBehind } from "./left-behind.ts";

/** What was left, each with where its document is kept by now: it may have been kept, or have got another name, since it was told. */
export function locatedLeft(all: readonly LeftBehind[], kept: readonly LeftBehind[]): readonly LeftBehind[] {
  const places = new Set(kept.flatMap(({ where }) => where ?? []));
  const isThere = ({ where }: LeftBehind): boolean => where !== undefined && places.has(where);
  const taken = new Set(all.filter(isThere).map(({ where }) => where));
  return all.map((left) => {
    if (isThere(left)) return left;
    const found = kept.find(
      ({ version, stores, where }) =>
        version === left.version && isDeepStrictEqual(stores, left.stores) && !taken.has(where),
    );
    if (found === undefined) return left;
    taken.add(found.where);
    return { ...left, where: found.where };
  });
}
