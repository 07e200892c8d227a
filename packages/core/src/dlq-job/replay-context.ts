import type { JobRun } from "./job-run.ts";
import type { ReplayContext } from "./replay-outcome.ts";

/** What an entry is replayed with, while the job is this owner's. */
export function replayContextOf(run: JobRun): ReplayContext {
  const { parts, store, job, cut } = run;
  const { clock, logger, delivered } = parts;
  // A process that stood still may have lost its job by the time that the route has room for the entry.
  const isMine = (): boolean => run.goesOn && run.hold.isSure;
  const replay: ReplayContext["replay"] = (entry, signal, of) =>
    parts.replay(entry, signal, { ...of, mayBegin: isMine });
  return { clock, logger, replay, delivered, store, job, signal: cut };
}
