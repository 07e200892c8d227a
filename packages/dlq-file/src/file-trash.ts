import type { FileDatabase } from "@bridge/file/internal";
import type { Clock, DlqTrash } from "@bridge/ports";
import { deleteIds } from "./deleting.ts";
import type { DlqTables } from "./dlq-tables.ts";
import { SLICE_ENTRIES, writeSlice } from "./write-slice.ts";

/** Deleted entries that can be taken back, in a table of the same file. None stays longer than it would have stayed in the list. */
export function fileTrash(file: FileDatabase<DlqTables>, retentionMs: number | undefined, clock: Clock): DlqTrash {
  return {
    move(ids, batch, until, signal) {
      return deleteIds(file, ids, clock, signal, ({ entries, trash }, id) => {
        trash.copy(id, batch, until, retentionMs);
        return entries.deleteById(id);
      });
    },
    async restore(batch, limit, signal) {
      let restored = 0;
      while (restored < limit) {
        const most = Math.min(SLICE_ENTRIES, limit - restored);
        const slice = {
          next: ({ trash }: DlqTables) => trash.inTime(batch, clock.now(), most),
          work: ({ trash }: DlqTables, number: number) => {
            const row = trash.restore(number);
            trash.delete(number);
            return row;
          },
        };
        const { results } = await writeSlice(file, slice, clock, signal, { put: (row) => row });
        restored += results.length;
        if (results.length === 0) break;
      }
      return restored;
    },
    async count(cap, signal) {
      signal.throwIfAborted();
      return file.read(({ trash }) => trash.count(clock.now(), cap));
    },
  };
}

/** Deletes what is over its time. Returns how many. */
export async function emptyTrash(file: FileDatabase<DlqTables>, clock: Clock, signal: AbortSignal): Promise<number> {
  for (let erased = 0; ;) {
    const slice = {
      next: ({ trash }: DlqTables) => trash.over(clock.now(), SLICE_ENTRIES),
      work: ({ trash }: DlqTables, number: number) => trash.delete(number),
    };
    const { items } = await writeSlice(file, slice, clock, signal, {});
    erased += items.length;
    if (items.length === 0) return erased;
  }
}
