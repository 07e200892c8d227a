import type { StoredJob } from "../dlq-jobs.ts";
import { unsealJob } from "./job-seal.ts";

/** Clocks differ by less. */
const SLACK_MS = 24 * 3_600_000;

/**
 * What the job says at `now` of what it has thrown away, whatever end stands beside that: it is `held` in the trash, or its time is long
 * `over`. `undefined`: nothing, and the ends hold. So it is of a job that is not as it was written.
 */
export function batchTime(job: StoredJob, now: number): "held" | "over" | undefined {
  if (job.state === "undoing") return "held";
  const { undoUntil, undoWithinMs = 0, endedAt } = timesIn(job);
  if (undoUntil === undefined) return undefined;
  if (undoUntil > now) return "held";
  // What is purged late may have been given a longer time.
  return endedAt !== undefined && Math.max(undoUntil, endedAt + undoWithinMs) < now - SLACK_MS ? "over" : undefined;
}

interface Times {
  readonly undoUntil?: number;
  readonly undoWithinMs?: number;
  readonly endedAt?: number;
}

function timesIn(job: StoredJob): Times {
  const json = unsealJob(job);
  if (json === undefined) return {};
  try {
    return JSON.parse(json) as Times;
  } catch {
    return {};
  }
}
