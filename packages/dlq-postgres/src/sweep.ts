import type { Clock, Logger } from "@bridge/ports";
import type { Deleting } from "./deleting.ts";

/** Entries may stay this much longer than they have to, seen by nobody. */
const SWEEP_MS = 60_000;

/**
 * Removes what is not needed any more, until it is disposed: once what ended processes have left behind, and each minute
 * entries whose retention is over. Of instances that do it at once each takes others. What fails is tried the next time.
 */
export function sweep(
  deleting: Deleting,
  retains: boolean,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): AsyncDisposable {
  const over = new AbortController();
  const done = run(over.signal).catch(() => {});
  return {
    async [Symbol.asyncDispose]() {
      over.abort(new Error("disposed"));
      await done;
    },
  };

  async function run(signal: AbortSignal): Promise<void> {
    await attempt(() => deleting.forgetLeftBehind(signal), signal);
    if (!retains) return;
    for (;;) {
      await attempt(async () => {
        const entries = await deleting.expired(signal);
        if (entries > 0) logger.info("dead letters were deleted at the end of their retention", { entries });
      }, signal);
      await clock.delay(SWEEP_MS, signal);
    }
  }

  async function attempt(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
    try {
      await work();
    } catch (error) {
      signal.throwIfAborted();
      logger.debug("what is not needed any more could not be removed", { error: (error as Error).message });
    }
  }
}
