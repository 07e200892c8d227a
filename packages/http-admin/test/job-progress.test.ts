import type { Job } from "@bridge/core";
import { expect, test } from "vitest";
import { jobSummaryToWire } from "../src/job-wire.ts";

/** A redrive that runs and has done 12 entries, of a plan that has counted so many. */
const shown = (total: number, exact: boolean, ended = false): object => {
  const job = {
    id: "job-1",
    kind: "redrive",
    state: "running",
    actor: "alice",
    reason: "the shop is back",
    createdAt: 1_000,
    updatedAt: 1_000,
    query: {},
    settings: {
      rate: 100,
      concurrency: 16,
      ramp: [],
      rampPauseMs: 0,
      halt: { failureRatio: 0.1, minAttempts: 20, consecutive: 10 },
    },
    plan: { total, exact },
    attempt: 1,
    total: Math.max(total, 12),
    counts: { succeeded: 12, failed: 0, skipped: 0, inDoubt: 0, restored: 0 },
    pending: [],
    inFlight: 2,
    pace: 4,
    step: { index: 0, done: 0, failed: 0 },
    lanes: [{ routeId: "r", total, done: 12, failed: 0, ended }],
  };
  return jobSummaryToWire(job as unknown as Job).progress;
};

test("spec 2.16: what is left is told where it is known, and that it was not counted exactly", () => {
  expect(shown(24, true)).toMatchObject({ total: 24, remaining: 12, percent: 50, eta_ms: 3_000 });
  expect(shown(24, true)).not.toHaveProperty("exact");
  expect(shown(24, false)).toMatchObject({ total: 24, exact: false, remaining: 12, percent: 50, eta_ms: 3_000 });
  const more = shown(10, false);
  expect(more).toMatchObject({ total: 14, exact: false, done: 12 });
  for (const name of ["remaining", "percent", "eta_ms"]) expect(more).not.toHaveProperty(name);
  expect(shown(10, false, true)).toMatchObject({ total: 12, remaining: 0, percent: 100 });
});
