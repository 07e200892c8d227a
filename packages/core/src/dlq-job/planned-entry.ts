import type { DeadLetterHead } from "@bridge/ports";
import type { Job } from "./job.ts";

/**
 * Whether an entry that matches the filter of a job did so when the job was planned. A filter that asks for marks would else let in what
 * operators let go, or give to somebody, while the job runs: more than it was planned for, in the place of what it was. What they have
 * changed since is left to them, except for what the job has had before.
 */
export function isPlanned(
  { marks }: Pick<DeadLetterHead, "marks">,
  { id, kind, query, createdAt }: Pick<Job, "id" | "kind" | "query" | "createdAt">,
): boolean {
  if (marks === undefined || marks.redrives?.jobId === id) return true;
  // What was marked in the very millisecond was so when the plan was counted, which came after.
  const isChanged = (at: number | undefined): boolean => at !== undefined && at > createdAt;
  // A redrive holds quarantined entries back, whatever its filter.
  if ((kind === "redrive" || query.quarantined !== undefined) && isChanged(marks.quarantinedAt)) return false;
  if (query.assignee !== undefined && isChanged(marks.assignedAt)) return false;
  return query.jobId === undefined || !isChanged(marks.redrives?.lastAt);
}
