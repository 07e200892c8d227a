import type { FileDatabase } from "@bridge/file/internal";
import type { Clock, Logger } from "@bridge/ports";
import { sweepEvery } from "@bridge/ports/internal";
import { deleteOldest } from "./deleting.ts";
import type { DlqTables } from "./dlq-tables.ts";
import { emptyTrash } from "./file-trash.ts";

/** Entries may stay this much longer than they have to. */
const SWEEP_MS = 60_000;

/**
 * Deletes entries that failed longer ago than `retentionMs`, and what is over its time in the trash, from time to time, until it is
 * disposed.
 */
export function sweepEntries(
  file: FileDatabase<DlqTables>,
  retentionMs: number | undefined,
  seams: { readonly clock: Clock; readonly logger: Logger },
): AsyncDisposable {
  const { clock, logger } = seams;
  return sweepEvery(
    SWEEP_MS,
    async (signal) => {
      await emptyTrash(file, retentionMs, clock, signal);
      if (retentionMs === undefined) return;
      const entries = await deleteOldest(file, { before: clock.now() - retentionMs }, Infinity, signal);
      if (entries > 0) logger.info("dead letters were deleted at the end of their retention", { entries });
    },
    seams,
  );
}
