import { ACTIVE_STATES, ENDED_STATES, type Job, type JobState } from "./job.ts";
import type { JobsRequest } from "./jobs.ts";

type Place = Pick<Job, "createdAt" | "id">;

export interface JobsPage {
  readonly jobs: readonly Job[];
  readonly more: boolean;
}

/** Of all jobs those that are asked for, newest first by what a cursor tells of them: a store may order them by something else. */
export function pageOfJobs(all: readonly Job[], { states, limit, after }: JobsRequest): JobsPage {
  const found = all
    .filter(({ state }) => states === undefined || isIn(states, state))
    .toSorted((a, b) => (isOlder(a, b) ? 1 : -1));
  const behind = after === undefined ? found : found.filter((job) => isOlder(job, after));
  return { jobs: behind.slice(0, limit), more: behind.length > limit };
}

function isIn(states: "active" | "ended", state: JobState): boolean {
  return (states === "active" ? ACTIVE_STATES : ENDED_STATES).includes(state);
}

function isOlder(job: Place, { createdAt, id }: Place): boolean {
  return job.createdAt < createdAt || (job.createdAt === createdAt && job.id < id);
}
