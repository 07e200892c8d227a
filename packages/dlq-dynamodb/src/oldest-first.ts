import type { Item } from "@bridge/dynamodb/internal";
import type { PartitionReader } from "./partition-reader.ts";

/** The entries of all readers, oldest first. Of each reader at most one and a half pages are in memory. */
export async function* oldestFirst(readers: readonly PartitionReader[]): AsyncGenerator<Item, void, undefined> {
  for (;;) {
    while (readers.some(({ isDry }) => isDry)) {
      // They run dry at about the same time, as entries are spread evenly: one wait is enough for several.
      await Promise.all(readers.filter(({ isLow }) => isLow).map((reader) => reader.refill()));
    }
    const oldest = withLeastKey(readers);
    if (oldest === undefined) return;
    yield oldest.take();
  }
}

function withLeastKey(readers: readonly PartitionReader[]): PartitionReader | undefined {
  let least: string | undefined;
  let found: PartitionReader | undefined;
  for (const reader of readers) {
    const { key } = reader;
    if (key === undefined || (least !== undefined && key >= least)) continue;
    least = key;
    found = reader;
  }
  return found;
}
