import type { Job } from "./job.ts";

/** Its owner is gone, and has moved what it may not have counted: whoever follows has to count that before the job can stand still. */
export function mayHaveMoved({ kind, owner, undoUntil }: Job): boolean {
  return kind === "purge" && owner !== undefined && undoUntil !== undefined;
}

/** It is to stand still, or does, and an owner is gone: what that has done last has to be counted before. */
export function isToBeCounted({ state, owner, requested }: Job, { uncounted }: Pick<Job, "uncounted">): boolean {
  return uncounted === true && (requested !== undefined || (owner !== undefined && state === "halted"));
}

/** As many may have been in flight as there might: what was delivered last and not deleted yet may be sent again. */
export function inDoubt(job: Job): Job {
  // What a purge has moved is in its batch of the trash.
  const isTold = job.kind === "purge" && job.undoUntil !== undefined;
  if (job.kind === "purge") return { ...job, inFlight: 0, ...(!isTold && { uncounted: true as const }) };
  const { counts, total, settings, mostInFlight } = job;
  const remaining = Math.max(0, total - counts.succeeded - counts.failed - counts.skipped);
  const more = Math.min(Math.max(settings.concurrency, mostInFlight), remaining);
  return { ...job, inFlight: 0, uncounted: true, counts: { ...counts, inDoubt: counts.inDoubt + more } };
}
