import { deadline, orAborted } from "@bridge/ports/internal";
import { notRefused, refuseCall, refuseEnded } from "./call-refusals.ts";
import type { Job, JobRequest } from "./job.ts";
import type { JobRun } from "./job-run.ts";
import type { SettingsChange } from "./jobs.ts";

/** The store of a job has so long to take what was asked: others may have asked something else, which this instance has not heard. */
const STORED_MS = 500;

/**
 * Asks whoever works on the job here, whose store may not take it.
 * @returns `"lost"` when another instance has the job by now, and its store knows nothing of it
 * @throws JobRefusal `state`, also when what others have asked leaves no room for it
 */
export async function askHere(run: JobRun, request: JobRequest): Promise<Job | "lost"> {
  notRefused(run.ask(request), run.job, request.call);
  const told = await toldBy(run);
  return run.hold.dropped === request ? refuseCall(run.job, request.call) : told;
}

/**
 * Changes the settings of a job that is worked on here, whose store may not take that.
 * @returns `"lost"` as {@link askHere}
 * @throws JobRefusal `ended`, also when others have ended it, or asked for its end
 */
export async function changeHere(run: JobRun, change: SettingsChange): Promise<Job | "lost"> {
  refuseEnded(run.job);
  run.change(change);
  const told = await toldBy(run);
  refuseEnded(run.job);
  return told;
}

async function toldBy(run: JobRun): Promise<Job | "lost"> {
  using limit = deadline(run.parts.clock, STORED_MS, new Error("the job is not stored yet"));
  await orAborted(run.look(), limit.signal).catch(() => {});
  const { isAsked, isLost } = run.hold;
  if (isAsked && isLost) return "lost";
  return isAsked ? run.unstored : run.job;
}
