import { BridgeError, type Clock, type DlqMarks, type DlqStore } from "@bridge/ports";
import { deadline, isSpoiled, orAborted } from "@bridge/ports/internal";
import { entryOrSpoiled } from "./entry-or-spoiled.ts";
import { type FailedReplay, failureIn, markFailed, markOf, type ReplayFailure } from "./failed-replay.ts";

const STORE_TIMEOUT_MS = 10_000;
/** Between two tries to mark an entry. */
const PAUSE_MS = 500;

/** Who wants to know how marking goes on. */
export interface MarkWatch {
  readonly marked?: (() => void) | undefined;
  /** Told each time that the store took no mark. */
  readonly unmarked?: ((failure: BridgeError) => void) | undefined;
}

interface Marking extends Asking, MarkWatch {
  readonly store: Pick<DlqStore, "get"> & { readonly marks: DlqMarks };
}

interface Asking {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** One call of a store, which has to answer in time: within 10 s, unless it is said otherwise. */
export async function askStore<Result>(
  { clock, signal }: Asking,
  work: (bound: AbortSignal) => Promise<Result>,
  withinMs = STORE_TIMEOUT_MS,
): Promise<Result> {
  using limit = deadline(clock, withinMs, () => new BridgeError("TIMEOUT", "the DLQ store did not answer"));
  const both = AbortSignal.any([signal, limit.signal]);
  return await orAborted(work(both), both);
}

/**
 * The route has marked it if it kept it as a dead letter; else it is done here. Returns what the mark says, so that whoever finds it
 * later tells the same failure; `undefined` when that was given up. `"gone"`: there is no such entry any more.
 */
export async function ensureMarked(
  { store, clock, signal, marked, unmarked }: Marking,
  replay: FailedReplay,
  failure: ReplayFailure,
): Promise<ReplayFailure | "gone" | undefined> {
  while (!signal.aborted) {
    try {
      const there = await askStore({ clock, signal }, (bound) => entryOrSpoiled(store.get(replay.entryId, bound)));
      // What cannot be read does not tell its marks, and takes one all the same.
      const mark = isSpoiled(there) ? undefined : markOf(there, replay);
      if (there === undefined || mark !== undefined) {
        // Somebody else was let write.
        marked?.();
        return mark === undefined ? "gone" : failureIn(mark);
      }
      const said = { failedAt: clock.now(), errorCode: failure.code, lastError: failure.error };
      const isMarked = await askStore({ clock, signal }, (bound) => markFailed(store.marks, replay, said, bound));
      marked?.();
      return isMarked ? failure : "gone";
    } catch (thrown) {
      if (!signal.aborted) unmarked?.(BridgeError.from(thrown));
      await clock.delay(PAUSE_MS, signal).catch(() => {});
    }
  }
  return undefined;
}
