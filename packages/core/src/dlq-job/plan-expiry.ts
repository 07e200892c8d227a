import type { Job } from "./job.ts";
import { moved } from "./job-state.ts";

/** A plan that nobody has started by then is over. */
const PLAN_LASTS_MS = 3_600_000;

export function isExpired({ state, createdAt }: Pick<Job, "state" | "createdAt">, now: number): boolean {
  return state === "planned" && now >= createdAt + PLAN_LASTS_MS;
}

/** The job as it is to be shown: what is over its time is not, whoever sweeps it. */
export function asOf(job: Job, now: number): Job {
  return isExpired(job, now) ? moved(job, "expired", job.createdAt + PLAN_LASTS_MS) : job;
}
