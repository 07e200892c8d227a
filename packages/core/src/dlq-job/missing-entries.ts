import { doneOf, type Job } from "./job.ts";

/** All is done: what was never met was gone by then. What was not counted exactly is as much as was met. */
export function withMissing(job: Job): Job {
  const { exact } = job.plan;
  const missing = exact ? Math.max(0, job.total - doneOf(job.counts)) : 0;
  const counts = { ...job.counts, skipped: job.counts.skipped + missing };
  const lanes = job.lanes.map((lane) => {
    const all = exact ? Math.max(lane.total, lane.done) : lane.done;
    return { ...lane, total: all, done: all, ended: true };
  });
  return { ...job, counts, total: doneOf(counts), lanes };
}
