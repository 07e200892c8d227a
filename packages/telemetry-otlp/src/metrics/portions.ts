import type { Family } from "@bridge/telemetry";

/**
 * Families in portions of so many samples at most; one that has more is in several of them. Without any sample there is one
 * empty portion: whether the collector takes it is to be known all the same.
 */
export function* portions(families: Iterable<Family>, most: number): Generator<readonly Family[]> {
  let portion: Family[] = [];
  let room = most;
  let isEmpty = true;
  for (const family of families) {
    for (const part of partsOf(family, () => room)) {
      isEmpty = false;
      portion.push(part.family);
      room -= part.size;
      if (room > 0) continue;
      yield portion;
      portion = [];
      room = most;
    }
  }
  if (portion.length > 0 || isEmpty) yield portion;
}

interface PartOfFamily {
  readonly family: Family;
  readonly size: number;
}

function* partsOf(family: Family, room: () => number): Generator<PartOfFamily> {
  if (family.type === "histogram")
    for (const samples of lists(family.samples, room)) yield { family: { ...family, samples }, size: samples.length };
  else
    for (const samples of lists(family.samples, room)) yield { family: { ...family, samples }, size: samples.length };
}

function* lists<Item>(items: Iterable<Item>, room: () => number): Generator<readonly Item[]> {
  let list: Item[] = [];
  for (const item of items) {
    list.push(item);
    if (list.length < room()) continue;
    yield list;
    list = [];
  }
  if (list.length > 0) yield list;
}
