import { keyOf, nameOf } from "../message.ts";
import type { Entry } from "./entry.ts";

type Numbered = readonly [id: string, entry: Entry];

/**
 * Messages that came to the target after a younger one of their ordering key. Which is the older is only certain when its
 * source had accepted it before the younger one was offered, and when it was not handed over later than that one.
 *
 * `repeatsLate`: the source hands out again what was lost only when its time is over, and younger ones meanwhile; so it
 * counts when a message was handed over last.
 */
export function overtakenIn(
  entries: Iterable<Numbered>,
  repeatsLate = false,
): readonly (readonly [id: string, by: string])[] {
  const handedAt = (entry: Entry): number => (repeatsLate ? entry.handedToArriveAt : entry.firstHandedAt);
  return [...byKey(entries).values()].flatMap((alike) => overtakenOf(alike, handedAt));
}

function byKey(entries: Iterable<Numbered>): ReadonlyMap<string, Numbered[]> {
  const keys = new Map<string, Numbered[]>();
  for (const [id, entry] of entries) {
    const name = nameOf(id);
    const key = name === undefined ? undefined : keyOf(name);
    if (key === undefined || entry.firstArrival === 0) continue;
    const alike = keys.get(key);
    if (alike === undefined) keys.set(key, [[id, entry]]);
    else alike.push([id, entry]);
  }
  return keys;
}

function overtakenOf(
  alike: readonly Numbered[],
  handedAt: (entry: Entry) => number,
): readonly (readonly [id: string, by: string])[] {
  const overtaken: (readonly [string, string])[] = [];
  /** Of those that have arrived so far, the one that was offered last. */
  let youngest: Numbered | undefined;
  for (const [id, entry] of alike.toSorted(([, a], [, b]) => a.firstArrival - b.firstArrival)) {
    if (youngest !== undefined) {
      const [by, younger] = youngest;
      const older = entry.accepted && entry.acceptedAt < younger.offeredAt;
      if (older && handedAt(entry) <= younger.firstHandedAt) overtaken.push([id, by]);
    }
    if (youngest === undefined || entry.offeredAt > youngest[1].offeredAt) youngest = [id, entry];
  }
  return overtaken;
}
