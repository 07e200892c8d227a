import type { FileDatabase } from "@bridge/file/internal";
import { orAborted } from "@bridge/ports/internal";
import type { DlqTables } from "./dlq-tables.ts";
import type { CountedChange } from "./entry-counts.ts";

/** The most items of one slice. */
export const SLICE_ENTRIES = 500;
/** What an item and a whole slice count as among the writes that share a transaction: there is room for one more slice. */
const ITEM_BYTES = 16 * 1024;
const SLICE_BYTES = 1024 * 1024;

interface Slice<Item, Result> {
  /** What is to be done next; none: all is done. */
  readonly next: (tables: DlqTables) => readonly Item[];
  /** Does it with one. */
  readonly work: (tables: DlqTables, item: Item) => Result;
  /** How many items that will be at most. Default: as many as a slice has. */
  readonly most?: number;
}

interface SliceOptions<Result> {
  /** What a result is to the counts. Default: nothing. */
  readonly counted?: (result: Result) => CountedChange | undefined;
  /** Whether it makes room, or takes none: it is let through when there is no room for more. Default: true. */
  readonly frees?: boolean;
}

/** What the slice has done, of which items. */
interface Done<Item, Result> {
  readonly items: readonly Item[];
  readonly results: readonly Result[];
}

/** Does as much as one slice of time holds, in one transaction, and durably. */
export async function writeSlice<Item, Result>(
  file: FileDatabase<DlqTables>,
  { next, work, most = SLICE_ENTRIES }: Slice<Item, Result>,
  signal: AbortSignal,
  { counted, frees = true }: SliceOptions<Result>,
): Promise<Done<Item, Result>> {
  signal.throwIfAborted();
  const write = file.write({
    bytes: Math.min(SLICE_BYTES, most * ITEM_BYTES),
    frees,
    run(tables) {
      const results: Result[] = [];
      const items = next(tables);
      const count = tables.overwriting(() =>
        file.slices.untilOver(items, (item) => void results.push(work(tables, item))),
      );
      return { items: items.slice(0, count), results, counts: tables.counts };
    },
    done({ results, counts }) {
      for (const result of results) {
        const change = counted?.(result);
        if (change !== undefined) counts.change(change);
      }
    },
  });
  return orAborted(write, signal);
}
