import type { FileDatabase } from "@bridge/file/internal";
import type { DeadLetterFilter } from "@bridge/ports";
import type { DlqTables } from "./dlq-tables.ts";
import type { CountedRow } from "./entry-counts.ts";
import { SLICE_ENTRIES, writeSlice } from "./write-slice.ts";

/** Deletes them, or does what `take` does of one that is there. Returns the ids that were there. */
export async function deleteIds(
  file: FileDatabase<DlqTables>,
  ids: readonly string[],
  signal: AbortSignal,
  take: (tables: DlqTables, id: string) => CountedRow | undefined = ({ entries }, id) => entries.deleteById(id),
): Promise<ReadonlySet<string>> {
  const gone = new Set<string>();
  for (let start = 0; start < ids.length;) {
    const slice = ids.slice(start, start + SLICE_ENTRIES);
    const { results } = await writeSlice(file, { next: () => slice, work: take, most: slice.length }, signal, {
      counted: (was) => ({ was }),
    });
    for (const row of results) if (row !== undefined) gone.add(row.id);
    start += results.length;
  }
  signal.throwIfAborted();
  return gone;
}

/** Deletes it, and what the trash has of it. */
export function withTrash({ entries, trash }: DlqTables, id: string): CountedRow | undefined {
  trash.deleteById(id);
  return entries.deleteById(id);
}

/** Deletes the oldest that match, at most `limit`. Returns how many. */
export async function deleteOldest(
  file: FileDatabase<DlqTables>,
  filter: DeadLetterFilter,
  limit: number,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted();
  let deleted = 0;
  while (deleted < limit) {
    const most = Math.min(SLICE_ENTRIES, limit - deleted);
    const slice = {
      next: ({ entries }: DlqTables) => entries.oldest(filter, most),
      work: ({ entries }: DlqTables, number: number) => entries.delete(number),
    };
    const { results } = await writeSlice(file, slice, signal, { counted: (was) => ({ was }) });
    deleted += results.length;
    if (results.length === 0) break;
  }
  return deleted;
}
