import type { Job } from "./job.ts";
import { moved } from "./job-state.ts";

const PLAN_LASTS_MS = 3_600_000;

/** When a plan that nobody has started is over, in epoch milliseconds. */
export function planExpiresAt({ createdAt }: Pick<Job, "createdAt">): number {
  return createdAt + PLAN_LASTS_MS;
}

export function isExpired(job: Pick<Job, "state" | "createdAt">, now: number): boolean {
  return job.state === "planned" && now >= planExpiresAt(job);
}

/** The job as it is to be shown: what is over its time is not, whoever sweeps it. */
export function asOf(job: Job, now: number): Job {
  return isExpired(job, now) ? moved(job, "expired", planExpiresAt(job)) : job;
}
