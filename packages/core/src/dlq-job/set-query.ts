import type { DeadLetterQuery } from "@bridge/ports";
import type { Job } from "./job.ts";

/** The entries that a job is about: those that had failed when it was planned, without those that are held back from it. */
export function setQuery({ kind, query, createdAt }: Pick<Job, "kind" | "query" | "createdAt">): DeadLetterQuery {
  const before = Math.min(query.before ?? Number.POSITIVE_INFINITY, createdAt);
  const heldBack = kind === "redrive" && query.quarantined === undefined;
  return { ...query, before, ...(heldBack && { quarantined: false }) };
}
