import type { FileDatabase } from "@bridge/file/internal";
import type { DlqMarks, MarkChange } from "@bridge/ports";
import type { DlqTables } from "./dlq-tables.ts";
import { SLICE_ENTRIES, writeSlice } from "./write-slice.ts";

/** Marks, in a column of the entry. */
export function fileMarks(file: FileDatabase<DlqTables>): DlqMarks {
  return {
    async mark(changes, signal) {
      signal.throwIfAborted();
      const marked = new Set<string>();
      const all = [...changes];
      for (let start = 0; start < all.length;) {
        const some = all.slice(start, start + SLICE_ENTRIES);
        const slice = {
          next: () => some,
          most: some.length,
          work: ({ entries }: DlqTables, [id, change]: [string, MarkChange]) => entries.mark(id, change),
        };
        const { results } = await writeSlice(file, slice, signal, {
          frees: false,
          counted: (row) => row,
        });
        for (const row of results) if (row !== undefined) marked.add(row.id);
        start += results.length;
      }
      return marked;
    },
  };
}
