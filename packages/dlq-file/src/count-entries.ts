import type { FileDatabase } from "@bridge/file/internal";
import { type Clock, BridgeError } from "@bridge/ports";
import type { DlqTables } from "./dlq-tables.ts";
import type { CountedStretch } from "./entry-counts.ts";

/** So many entries are counted first at a time, and so many at least and at most. */
const ENTRIES = { first: 1_000, least: 200, most: 5_000 } as const;
/** A slice takes about as long: others have their turn after each. */
const SLICE_MS = 3;
const RETRY_MS = 1_000;

/**
 * Counts the entries of a file that has just been opened, in slices. Each has its place among the writes: so it comes between
 * others in the order in which they are done, and each entry counts once. Never rejects: ends when it is done, when the file has been
 * opened again since or is counted once more, or when `signal` aborts.
 */
export async function countEntries(
  file: FileDatabase<DlqTables>,
  tables: DlqTables,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const { counts, entries } = tables;
  let most: number = ENTRIES.first;
  try {
    while (counts.pending && !signal.aborted) {
      const goesOn = await file.write({ bytes: 0, frees: true, looks: true, run: slice, done }).then(
        (counted) => counted !== undefined,
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

  function slice(current: DlqTables): (CountedStretch & { readonly tookMs: number }) | undefined {
    if (current !== tables || current.counts !== counts) return undefined;
    const begin = clock.monotonic();
    const stretch = entries.stretch(counts.upTo, most);
    return { ...stretch, tookMs: clock.monotonic() - begin };
  }

  function done(counted: ReturnType<typeof slice>): void {
    if (counted === undefined) return;
    counts.count(counted);
    // What a disk has yet to read takes many times as long as what is in memory.
    const next = counted.tookMs > 0 ? (most * SLICE_MS) / counted.tookMs : ENTRIES.most;
    most = Math.round(Math.max(ENTRIES.least, Math.min(ENTRIES.most, next, most * 2)));
  }
}
