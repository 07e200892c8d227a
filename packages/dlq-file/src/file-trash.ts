import type { FileDatabase } from "@bridge/file/internal";
import type { Clock, DlqTrash } from "@bridge/ports";
import { Slices } from "@bridge/ports/internal";
import { countTrash } from "./count-trash.ts";
import { deleteIds } from "./deleting.ts";
import type { DlqTables } from "./dlq-tables.ts";
import { SLICE_ENTRIES, writeSlice } from "./write-slice.ts";

/** Deleted entries that can be taken back, in a table of the same file. None stays longer than it would have stayed in the list. */
export function fileTrash(file: FileDatabase<DlqTables>, retentionMs: number | undefined, clock: Clock): DlqTrash {
  return {
    move(ids, batch, until, signal) {
      return deleteIds(file, ids, signal, ({ entries, trash }, id) => {
        // Of an entry that the batch has already the later one is kept, with the marks of both; another one that has its id keeps its place.
        const former = trash.former(batch, id, clock.now());
        const isAgain = former && trash.isAgain(former.number);
        const merged = former !== undefined && isAgain === true ? entries.merge(former) : undefined;
        if (former !== undefined && isAgain === false) trash.rename(former.number);
        trash.copy(id, batch, until, retentionMs);
        const gone = entries.deleteById(id);
        // As it was counted.
        return gone && (merged?.was ?? gone);
      });
    },
    async restore(batch, limit, signal) {
      let restored = 0;
      let present = 0;
      while (restored + present < limit) {
        const most = Math.min(SLICE_ENTRIES, limit - restored - present);
        const slice = {
          next: (tables: DlqTables) => tables.trash.inTime(batch, timeOf(tables, batch), most),
          work({ entries, trash }: DlqTables, number: number) {
            const is = trash.restore(number);
            const done = is === undefined ? { is, merged: entries.merge(trash.marksOf(number)) } : { is };
            trash.delete(number);
            return done;
          },
        };
        const { results } = await writeSlice(file, slice, signal, {
          counted: ({ is, merged }) => merged ?? { is },
        });
        const back = results.filter(({ is }) => is !== undefined).length;
        restored += back;
        present += results.length - back;
        if (results.length === 0) break;
      }
      return { restored, present };
    },
    async count(cap, signal, batch) {
      signal.throwIfAborted();
      return file.reading(() => {
        const now = batch === undefined ? clock.now() : file.read((tables) => timeOf(tables, batch));
        return new Slices(clock).run(countTrash(file, now, cap, batch), signal);
      }, signal);
    },
  };

  /** A batch that its job holds is in time, whatever stands beside its entries. */
  function timeOf({ jobs }: DlqTables, batch: string): number {
    const now = clock.now();
    return jobs.holdsBatch(batch, now) ? Number.MIN_SAFE_INTEGER : now;
  }
}

/** Deletes what is over its time. Returns how many. */
export async function emptyTrash(
  file: FileDatabase<DlqTables>,
  retentionMs: number | undefined,
  clock: Clock,
  signal: AbortSignal,
): Promise<number> {
  for (let erased = 0; ;) {
    const slice = {
      next: ({ trash }: DlqTables) => trash.over(clock.now(), clock.now() - (retentionMs ?? Infinity), SLICE_ENTRIES),
      work: ({ trash }: DlqTables, number: number) => trash.delete(number),
    };
    const { items } = await writeSlice(file, slice, signal, {});
    erased += items.length;
    if (items.length === 0) return erased;
  }
}
