import type { DeadLetterQuery } from "@bridge/ports";
import type { Job } from "./job.ts";

/** The entries that a job is about: those that had failed when it was planned, without those that are held back from it. */
export function setQuery(job: Pick<Job, "kind" | "query" | "createdAt">): DeadLetterQuery {
  const heldBack = job.kind === "redrive" && job.query.quarantined === undefined;
  return { ...withHeldBack(job), ...(heldBack && { quarantined: false }) };
}

/** Those, and the ones that are held back. */
export function withHeldBack({ query, createdAt }: Pick<Job, "query" | "createdAt">): DeadLetterQuery {
  return { ...query, before: Math.min(query.before ?? Number.POSITIVE_INFINITY, createdAt) };
}
