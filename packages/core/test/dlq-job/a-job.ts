import type { Job } from "../../src/dlq-job/job.ts";

/** A job that has just been planned, but for `over`. */
export function aJob(over: Partial<Job> = {}): Job {
  return {
    id: "job-1",
    kind: "redrive",
    state: "planned",
    actor: "alice",
    reason: "the shop is back",
    createdAt: 1_000,
    query: { routeId: "r" },
    settings: {
      rate: 100,
      concurrency: 16,
      ramp: [1, 10, 100, 1000],
      rampPauseMs: 5_000,
      halt: { failureRatio: 0.1, minAttempts: 20, consecutive: 10 },
    },
    plan: {
      hash: "0".repeat(64),
      total: 10,
      exact: true,
      estimatedBytes: 100,
      estimatedMs: 100,
      configVersion: 1,
      lanes: [{ routeId: "r", count: 10 }],
      sample: [],
      warnings: [],
    },
    updatedAt: 1_000,
    attempt: 1,
    total: 10,
    counts: { succeeded: 0, failed: 0, skipped: 0, inDoubt: 0, restored: 0 },
    pending: [],
    ahead: [],
    inFlight: 0,
    mostInFlight: 0,
    pace: 0,
    step: { index: 0, done: 0, failed: 0 },
    lanes: [{ routeId: "r", total: 10, done: 0, failed: 0, ended: false }],
    errors: [],
    ...over,
  };
}
