import type { FileDatabase } from "@bridge/file/internal";
import { type Clock, BridgeError } from "@bridge/ports";
import type { DlqTables } from "./dlq-tables.ts";

/** So many are counted at a time, which takes some milliseconds. */
const SLICE_ENTRIES = 2_000;
const RETRY_MS = 1_000;

/**
 * Counts the entries of a file that has just been opened, in slices. Each is a write that changes nothing: so it comes between
 * others in the order in which they are done, and each entry counts once. Never rejects: ends when it is done, when the file has been
 * opened again since, or when `signal` aborts.
 */
export async function countEntries(
  file: FileDatabase<DlqTables>,
  tables: DlqTables,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const { counts } = tables;
  try {
    while (counts.pending && !signal.aborted) {
      const goesOn = await file.write({ bytes: 0, frees: true, run: slice, done }).then(
        ({ current }) => current,
        async (error: unknown) => {
          // The disk takes nothing at the moment.
          await clock.delay(BridgeError.from(error).retryAfterMs ?? RETRY_MS, signal);
          return true;
        },
      );
      if (!goesOn) return;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }

  function slice(current: DlqTables): { readonly current: boolean; readonly rows: ReturnType<typeof rowsOf> } {
    return current === tables ? { current: true, rows: rowsOf() } : { current: false, rows: [] };
  }

  function rowsOf(): ReturnType<DlqTables["entries"]["counted"]> {
    const { failedAt } = counts.upTo;
    return tables.entries.counted({}, failedAt === -Infinity ? undefined : counts.upTo, SLICE_ENTRIES);
  }

  function done({ current, rows }: ReturnType<typeof slice>): void {
    if (current) counts.count(rows, rows.length < SLICE_ENTRIES ? undefined : rows.at(-1));
  }
}
