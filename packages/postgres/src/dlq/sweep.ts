import type { Clock, Logger } from "@bridge/ports";
import type { Changes } from "./changes.ts";
import type { Deleting } from "./deleting.ts";
import type { Trash } from "./trash.ts";

/** What is over its time may stay this much longer, seen by nobody. */
const SWEEP_MS = 60_000;
/** Notes come from processes that ended and calls that failed: few. */
const NOTES_MS = 3_600_000;

export interface Swept {
  readonly changes: Changes;
  readonly trash: Trash;
  /** Absent: entries are kept. */
  readonly retention: Deleting | undefined;
}

/**
 * Removes what is not needed any more, until it is disposed: each hour what ended processes and failed calls have left
 * behind, and each minute entries whose retention is over and what the trash need not hold any more; all at once for the first
 * time. Of instances that do it together each takes others. What fails is tried the next time.
 */
export function sweep(
  { changes, trash, retention }: Swept,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): AsyncDisposable {
  const over = new AbortController();
  const sweeps = [
    repeat(NOTES_MS, () => changes.forgetLeftBehind(over.signal)),
    repeat(SWEEP_MS, () => trash.erase(over.signal)),
  ];
  if (retention !== undefined) sweeps.push(repeat(SWEEP_MS, () => expire(retention)));
  return {
    async [Symbol.asyncDispose]() {
      over.abort(new Error("disposed"));
      await Promise.allSettled(sweeps);
    },
  };

  async function repeat(ms: number, work: () => Promise<void>): Promise<void> {
    while (!over.signal.aborted) {
      await work().catch((error: Error) => {
        if (over.signal.aborted) return;
        logger.debug("what is not needed any more could not be removed", { error: error.message });
      });
      await clock.delay(ms, over.signal).catch(() => {});
    }
  }

  async function expire(deleting: Deleting): Promise<void> {
    const entries = await deleting.expired(over.signal);
    if (entries > 0) logger.info("dead letters were deleted at the end of their retention", { entries });
  }
}
