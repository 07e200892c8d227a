import type { BridgeError } from "@bridge/ports";
import type { JobRun } from "./job-run.ts";
import type { ReplayContext } from "./replay-outcome.ts";

/** A store may take no mark for so long; a job that is to stand still then goes without it. */
const MARK_PATIENCE_MS = 5_000;

/** What one entry is replayed with, while the job is this owner's. */
export function replayContextOf(run: JobRun): ReplayContext {
  const { parts, store, job, cut, waits } = run;
  const { clock, logger, delivered } = parts;
  const given = new AbortController();
  let failingSince: number | undefined;
  const unmarked = (failure: BridgeError): void => {
    waits.writes.failed(failure);
    failingSince ??= clock.monotonic();
    // It comes again when the job goes on, or belongs to nobody.
    if (!run.goesOn && clock.monotonic() - failingSince >= MARK_PATIENCE_MS) given.abort();
  };
  // A process that stood still may have lost its job by the time that the route has room for the entry.
  const isMine = (): boolean => run.goesOn && run.hold.isSure;
  const replay: ReplayContext["replay"] = (entry, signal, of) =>
    parts.replay(entry, signal, { ...of, mayBegin: isMine, unmarked });
  const signal = AbortSignal.any([cut, given.signal]);
  return { clock, logger, replay, delivered, store, job, marked: () => waits.writes.took(), unmarked, signal };
}
