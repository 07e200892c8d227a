import type { Clock, Logger } from "@bridge/ports";
import type { Deleting } from "./deleting.ts";

/** Entries may stay this much longer than they have to, seen by nobody. */
const SWEEP_MS = 60_000;
/** Notes come from processes that ended and calls that failed: few. */
const NOTES_MS = 3_600_000;

/**
 * Removes what is not needed any more, until it is disposed: each hour what ended processes and failed calls have left
 * behind, and each minute entries whose retention is over; both at once for the first time. Of instances that do it
 * together each takes others. What fails is tried the next time.
 */
export function sweep(
  deleting: Deleting,
  retains: boolean,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): AsyncDisposable {
  const over = new AbortController();
  const sweeps = [repeat(NOTES_MS, () => deleting.forgetLeftBehind(over.signal))];
  if (retains) sweeps.push(repeat(SWEEP_MS, expire));
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

  async function expire(): Promise<void> {
    const entries = await deleting.expired(over.signal);
    if (entries > 0) logger.info("dead letters were deleted at the end of their retention", { entries });
  }
}
