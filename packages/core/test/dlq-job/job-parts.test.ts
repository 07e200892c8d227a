import { describe, expect, it } from "vitest";
import { type ErrorGroup, withFailure } from "../../src/dlq-job/error-groups.ts";
import { readJob, storedJob, unreadableJob } from "../../src/dlq-job/job-document.ts";
import { progressOf } from "../../src/dlq-job/progress.ts";
import { readReplayHeader, replayHeader, replayId } from "../../src/dlq-job/replay-id.ts";
import { aJob } from "./a-job.ts";

describe("progress", () => {
  it("adds up: what is done and what remains are the whole", () => {
    const counts = { succeeded: 11_518, failed: 482, skipped: 7, inDoubt: 0, restored: 0 };
    const job = aJob({ state: "running", total: 48_211, counts, inFlight: 16, pace: 198.43 });
    expect(progressOf(job)).toMatchObject({
      done: 12_007,
      remaining: 36_204,
      percent: 24.9,
      rate: 198.4,
      etaMs: 182_452,
    });
  });

  it("does not say what is left when all that was counted is done, and not all was counted", () => {
    const plan = { ...aJob().plan, exact: false };
    const counts = { ...aJob().counts, succeeded: 12 };
    const job = aJob({ state: "running", total: 12, counts, plan, inFlight: 3, pace: 5 });
    expect(progressOf(job)).toMatchObject({ exact: false, isLeftKnown: false, total: 15 });
    expect(progressOf(job).etaMs).toBeUndefined();
    expect(progressOf({ ...job, total: 20 })).toMatchObject({
      exact: false,
      isLeftKnown: true,
      remaining: 8,
      percent: 60,
    });
    const lanes = job.lanes.map((lane) => ({ ...lane, ended: true }));
    expect(progressOf({ ...job, lanes, inFlight: 0 })).toMatchObject({ exact: true, isLeftKnown: true, percent: 100 });
  });

  it("has no end in sight while nothing moves, and is 100 percent of nothing", () => {
    expect(progressOf(aJob({ state: "waiting", pace: 100 })).etaMs).toBeUndefined();
    expect(progressOf(aJob({ state: "completed", total: 0 })).percent).toBe(100);
  });
});

describe("groups of errors", () => {
  const failure = (kind: number, id: string) =>
    ({ fingerprint: `f${kind}`, code: "REJECTED", error: `error ${kind}`, id }) as const;

  it("are at most 20, of which each names the first 10 entries", () => {
    let groups: readonly ErrorGroup[] = [];
    for (let kind = 0; kind < 30; kind++)
      for (let nth = 0; nth < 12; nth++) groups = withFailure(groups, failure(kind, `${kind}-${nth}`));
    expect(groups).toHaveLength(20);
    expect(groups[3]).toMatchObject({ fingerprint: "f3", count: 12 });
    expect(groups[3]?.ids).toHaveLength(10);
  });
});

describe("the document of a job", () => {
  it("comes back as it was", () => {
    const job = aJob({ owner: { instanceId: "a", holder: "a/1", beat: 1 }, pending: ["x"] });
    const stored = storedJob(job, 4);
    expect(stored).toMatchObject({ id: "job-1", revision: 4, state: "planned", createdAt: 1_000 });
    expect(readJob(stored)).toEqual(job);
  });

  it("is within what a store takes, however much there is to show", () => {
    const errors = Array.from({ length: 20 }, (_, nth) => ({
      fingerprint: `${nth}`,
      code: "REJECTED" as const,
      error: "€".repeat(256),
      count: 10,
      ids: Array.from({ length: 10 }, () => "x".repeat(256)),
    }));
    const job = aJob({ errors, pending: Array.from({ length: 64 }, () => "y".repeat(256)) });
    const stored = storedJob(job, 1);
    expect(Buffer.byteLength(stored.document)).toBeLessThanOrEqual(64 * 1024);
    expect(readJob(stored)).toMatchObject({ pending: job.pending, errors: errors.map(() => ({ count: 10, ids: [] })) });
  });

  it("is shown as failed when it cannot be read", () => {
    const stored = storedJob(aJob(), 1);
    for (const why of ["damaged", "newer"] as const)
      expect(unreadableJob(stored, why)).toMatchObject({ id: "job-1", state: "failed", createdAt: 1_000 });
  });
});

describe("the id of a replay", () => {
  it("is the same for the same job, entry and try, and no other", () => {
    const ids = new Set<string>();
    for (const jobId of ["job-1", "job-2"])
      for (const attempt of [1, 2])
        for (const entry of ["a", "b"]) {
          const id = replayId({ jobId, attempt }, entry);
          expect(id).toMatch(/^[\w-]{32}$/);
          expect(replayId({ jobId, attempt }, entry)).toBe(id);
          ids.add(id);
        }
    expect(ids.size).toBe(8);
  });

  it("the header says which job and try, and what is none says nothing", () => {
    const of = { jobId: "job-x1-7", attempt: 3 };
    expect(readReplayHeader(replayHeader(of))).toEqual(of);
    for (const none of [undefined, "", "job", "/1", "job/", "job/0", "job/x"])
      expect(readReplayHeader(none)).toBeUndefined();
  });
});
