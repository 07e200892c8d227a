import type { Metric } from "./metric.ts";

/** Jobs of the DLQ. */
export const JOB_METRICS: readonly Metric[] = [
  {
    name: "bridge_dlq_jobs",
    type: "gauge",
    help: "Jobs of the DLQ that are not over, as this instance last saw them.",
    read: ({ stats }) => stats.jobs.jobs.map(({ kind, state, count }) => ({ labels: { kind, state }, value: count })),
  },
  {
    name: "bridge_dlq_job_entries_total",
    type: "counter",
    help: "Dead letters that jobs of this instance have dealt with, by what became of them.",
    read: ({ stats }) =>
      stats.jobs.entries.map(({ kind, outcome, count }) => ({ labels: { kind, outcome }, value: count })),
  },
  {
    name: "bridge_dlq_job_halts_total",
    type: "counter",
    help: "Times that a job of this instance has stopped itself.",
    read: ({ stats }) => stats.jobs.halts.map(({ why, count }) => ({ labels: { why }, value: count })),
  },
  {
    name: "bridge_dlq_job_adoptions_total",
    type: "counter",
    help: "Jobs that this instance has taken over from one that was not heard of any more.",
    read: ({ stats }) => [{ labels: {}, value: stats.jobs.adoptions }],
  },
  {
    name: "bridge_dlq_trash_entries",
    type: "gauge",
    help: "Purged dead letters that can still be taken back, to 1,000,000; no sample while the store has no trash or was not asked.",
    read: ({ stats: { jobs } }) => (jobs.trashEntries === undefined ? [] : [{ labels: {}, value: jobs.trashEntries }]),
  },
];
