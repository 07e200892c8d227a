import { newHeaders, type RedriveMark, RESERVED } from "@bridge/ports";
import { describe, expect, test } from "vitest";
import { markOf, replayIn } from "../../src/dlq/failed-replay.ts";
import { NO_JOB } from "../../src/dlq-job/replay-id.ts";

describe("a message that leaves a mark when it fails", () => {
  const ofJob = { headers: Object.assign(newHeaders(), { [RESERVED.job]: "job-1/2" }) };

  test("names its job and its dead letter", () => {
    expect(replayIn(ofJob, "e1")).toEqual({ entryId: "e1", jobId: "job-1", attempt: 2 });
  });

  test("is none without a dead letter, or without a job", () => {
    expect([replayIn(ofJob, undefined), replayIn({ headers: {} }, "e1")]).toEqual([undefined, undefined]);
  });
});

describe("the mark of a try", () => {
  const mark = { count: 1, lastAt: 1, lastCode: "REJECTED", lastError: "no", jobTry: 2 } as const;
  const entryWith = (redrives: RedriveMark) => ({ marks: { redrives } });

  test("is the one that names its job and its number", () => {
    const ofJob = { ...mark, jobId: "job-1" };
    expect(markOf(entryWith(ofJob), { jobId: "job-1", attempt: 2 })).toEqual(ofJob);
    expect(markOf(entryWith(mark), { jobId: NO_JOB, attempt: 2 })).toEqual(mark);
  });

  test.each([
    ["another try of its job", entryWith({ ...mark, jobId: "job-1", jobTry: 1 })],
    ["a try of another job", entryWith({ ...mark, jobId: "job-2" })],
    ["a redrive without a job", entryWith(mark)],
    ["no redrive", { marks: {} }],
    ["nobody", {}],
    ["nobody, since the entry is gone", undefined],
  ])("is not that of %s", (_, entry) => {
    expect(markOf(entry, { jobId: "job-1", attempt: 2 })).toBeUndefined();
  });
});
