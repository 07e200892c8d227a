import { BridgeError, type Clock, type DeadLetter, type DlqMarks, type DlqStore, type ErrorCode } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { type FailedReplay, markFailed, markOf } from "./failed-replay.ts";

const STORE_TIMEOUT_MS = 10_000;
/** Between two tries to mark an entry. */
const PAUSE_MS = 500;

interface Asking {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** One call of a store, which has to answer in time. */
export async function askStore<Result>(
  { clock, signal }: Asking,
  work: (bound: AbortSignal) => Promise<Result>,
): Promise<Result> {
  using limit = deadline(clock, STORE_TIMEOUT_MS, () => new BridgeError("TIMEOUT", "the DLQ store did not answer"));
  const both = AbortSignal.any([signal, limit.signal]);
  return await orAborted(work(both), both);
}

/** The route has marked it if it kept it as a dead letter; else it is done here. False when that was given up. */
export async function ensureMarked(
  { store, clock, signal }: Asking & { readonly store: Pick<DlqStore, "get"> & { readonly marks: DlqMarks } },
  replay: FailedReplay,
  { code, error }: { readonly code: ErrorCode; readonly error: string },
): Promise<boolean> {
  for (;;) {
    try {
      const there = await askStore({ clock, signal }, (bound): Promise<DeadLetter | undefined> =>
        store.get(replay.entryId, bound),
      );
      if (there === undefined || markOf(there, replay) !== undefined) return true;
      const failure = { failedAt: clock.now(), errorCode: code, lastError: error };
      await askStore({ clock, signal }, (bound) => markFailed(store.marks, replay, failure, bound));
      return true;
    } catch {
      if (signal.aborted) return false;
      await clock.delay(PAUSE_MS, signal).catch(() => {});
    }
  }
}
