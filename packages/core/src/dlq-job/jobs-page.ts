import { ACTIVE_STATES, ENDED_STATES, type Job, type JobState } from "./job.ts";
import type { JobsRequest } from "./jobs.ts";

export interface JobsPage {
  readonly jobs: readonly Job[];
  readonly more: boolean;
}

/** Of all jobs, newest first, those that are asked for. */
export function pageOfJobs(all: readonly Job[], { states, limit, after }: JobsRequest): JobsPage {
  const found = all.filter(({ state }) => states === undefined || isIn(states, state));
  const behind = after === undefined ? found : found.filter((job) => isOlder(job, after));
  return { jobs: behind.slice(0, limit), more: behind.length > limit };
}

function isIn(states: "active" | "ended", state: JobState): boolean {
  return (states === "active" ? ACTIVE_STATES : ENDED_STATES).includes(state);
}

function isOlder(job: Job, { createdAt, id }: { readonly createdAt: number; readonly id: string }): boolean {
  return job.createdAt < createdAt || (job.createdAt === createdAt && job.id < id);
}
