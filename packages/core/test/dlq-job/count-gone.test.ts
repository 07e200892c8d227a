import { openMemoryDlq } from "@bridge/dlq-memory";
import { expect, test } from "vitest";
import { countGone } from "../../src/dlq-job/count-gone.ts";
import type { Job } from "../../src/dlq-job/job.ts";
import type { JobRun } from "../../src/dlq-job/job-run.ts";
import { progressOf } from "../../src/dlq-job/progress.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { bound } from "../support/memory-bridge.ts";
import { aJob } from "./a-job.ts";
import { fill } from "./job-bridge.ts";

const COUNTS = { succeeded: 3, failed: 0, skipped: 0, inDoubt: 0, restored: 0 };

/** A redrive of 10 entries that comes to stand still after its owner was killed: what is counted by then, and what is there. */
async function counted(there: number, over: Partial<Job>): Promise<Job> {
  const clock = new FakeClock();
  const store = openMemoryDlq({ maxEntries: 100, clock });
  await fill(store, there);
  const job = aJob({ state: "paused", uncounted: true, counts: COUNTS, ...over });
  const run = { job, isHeld: true, cut: bound(), store, hold: { isStored: true }, parts: { clock }, tally: () => {} };
  await countGone(run as unknown as JobRun);
  return run.job;
}

const pending = ["p1", "p2"];
const plan = { ...aJob().plan, exact: false };
const estimate = { ...plan, total: 40, seen: 8 };
const almostDone = { pending, counts: { ...COUNTS, succeeded: 9 } };

test.each<[string, number, Partial<Job>, object]>([
  ["is skipped", 5, {}, { total: 10, succeeded: 3, skipped: 2, remaining: 5 }],
  ["is delivered where it was pending", 5, { pending }, { total: 10, succeeded: 5, skipped: 0, remaining: 5 }],
  ["does not show where as many have joined the set", 9, {}, { total: 10, succeeded: 3, skipped: 0, remaining: 7 }],
  ["is delivered, however many have joined", 9, { pending }, { total: 10, succeeded: 5, skipped: 0, remaining: 5 }],
  ["is delivered, also where more are done than were planned", 4, almostDone, { total: 11, succeeded: 11, skipped: 0 }],
  ["is delivered, also of a plan that counted too few", 20, { pending, plan }, { total: 10, succeeded: 5, skipped: 0 }],
  [
    "is skipped, of an estimate as far as entries were seen",
    4,
    { plan: estimate, total: 40 },
    { total: 8, skipped: 1, remaining: 4 },
  ],
  [
    "is not told of an estimate: what remains is",
    6,
    { plan: estimate, total: 40 },
    { total: 9, skipped: 0, remaining: 6 },
  ],
])("spec 4.10.6: what is gone after a kill %s", async (_, there, over, expected) => {
  const job = await counted(there, over);
  expect(progressOf(job)).toMatchObject({ ...expected, pending: 0 });
  expect(job.uncounted).toBeUndefined();
});
