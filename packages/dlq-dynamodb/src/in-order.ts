import type { Item } from "@bridge/dynamodb/internal";
import type { DeadLetterOrder } from "@bridge/ports";
import type { PartitionReader } from "./partition-reader.ts";

/** The entries of all readers, in the order in which each reads. Of each reader at most one and a half pages are in memory. */
export async function* inOrder(
  readers: readonly PartitionReader[],
  order: DeadLetterOrder = "oldest",
): AsyncGenerator<Item, void, undefined> {
  for (;;) {
    while (readers.some(({ isDry }) => isDry)) {
      // They run dry at about the same time, as entries are spread evenly: one wait is enough for several.
      await Promise.all(readers.filter(({ isLow }) => isLow).map((reader) => reader.refill()));
    }
    const first = withFirstKey(readers, order);
    if (first === undefined) return;
    yield first.take();
  }
}

function withFirstKey(readers: readonly PartitionReader[], order: DeadLetterOrder): PartitionReader | undefined {
  let first: string | undefined;
  let found: PartitionReader | undefined;
  for (const reader of readers) {
    const { key } = reader;
    if (key === undefined || (first !== undefined && (order === "oldest" ? key >= first : key <= first))) continue;
    first = key;
    found = reader;
  }
  return found;
}
