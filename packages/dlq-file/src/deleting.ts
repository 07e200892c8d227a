import { type FileDatabase, untilSliceEnds } from "@bridge/file/internal";
import { type Clock, type DeadLetterFilter } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import type { DlqStatements } from "./dlq-statements.ts";

const SLICE_ENTRIES = 500;
/** What a slice counts as among the writes that share its transaction: there is room for one more. */
const SLICE_BYTES = 1024 * 1024;

/** Returns the ids that were there. */
export async function deleteIds(
  file: FileDatabase<DlqStatements>,
  ids: readonly string[],
  clock: Clock,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const gone = new Set<string>();
  for (let start = 0; start < ids.length;) {
    const slice = await writeSlice(file, signal, (statements) => {
      const found: string[] = [];
      const count = untilSliceEnds(clock, ids.slice(start, start + SLICE_ENTRIES), (id) => {
        if (statements.deleteById(id)) found.push(id);
      });
      return { found, count };
    });
    for (const id of slice.found) gone.add(id);
    start += slice.count;
  }
  signal.throwIfAborted();
  return gone;
}

/** Deletes the oldest that match, at most `limit`. Returns how many. */
export async function deleteOldest(
  file: FileDatabase<DlqStatements>,
  filter: DeadLetterFilter,
  limit: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted();
  let deleted = 0;
  while (deleted < limit) {
    const count = await writeSlice(file, signal, (statements) => {
      const oldest = statements.oldest(filter, Math.min(SLICE_ENTRIES, limit - deleted));
      return untilSliceEnds(clock, oldest, (number) => statements.delete(number));
    });
    deleted += count;
    if (count === 0) break;
  }
  return deleted;
}

async function writeSlice<Result>(
  file: FileDatabase<DlqStatements>,
  signal: AbortSignal,
  run: (statements: DlqStatements) => Result,
): Promise<Result> {
  signal.throwIfAborted();
  return orAborted(file.write({ run, bytes: SLICE_BYTES, frees: true }), signal);
}
