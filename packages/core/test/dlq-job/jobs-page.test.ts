import { expect, test } from "vitest";
import type { Job } from "../../src/dlq-job/job.ts";
import { pageOfJobs } from "../../src/dlq-job/jobs-page.ts";
import { aJob } from "./a-job.ts";

/** What somebody may have made of a time, beside sound ones; a store may have its jobs in any order. */
const TIMES = [-Number.MAX_SAFE_INTEGER, -1, 0, 1_000, 1_000, 1_001, 4_102_444_800_000, Number.MAX_SAFE_INTEGER];

test.each([1, 2, 3, 7, 8])("pages of %s show each job once, whatever order the store has them in", (limit) => {
  const all = TIMES.map((createdAt, nth) => aJob({ id: `job-${nth}`, createdAt }));
  for (let turn = 0; turn < all.length; turn++) {
    const listed = [...all.slice(turn), ...all.slice(0, turn)];
    const seen: Job[] = [];
    for (let more = true; more && seen.length < 99;) {
      const page = pageOfJobs(listed, { limit, after: seen.at(-1) });
      seen.push(...page.jobs);
      ({ more } = page);
    }
    expect(seen).toEqual(all.toReversed());
  }
});
