import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isOver, type Job, JOB_STATES, type JobCall, type JobState } from "../../src/dlq-job/job.ts";
import { answerTo, called, comingState, MAY_FOLLOW, moved, obeyed } from "../../src/dlq-job/job-state.ts";
import { aJob } from "./a-job.ts";
import { row, TABLE, UNDO } from "./job-table.ts";

function shown(answer: ReturnType<typeof answerTo>, call: JobCall): string {
  if (answer.kind === "moves") return `→ ${answer.to}`;
  if (answer.kind === "stays") return call === "change" ? "200" : "202";
  return answer.reason === "ended" ? "409 ended" : "409";
}

describe("operators 3.5.8: every state and every call", () => {
  for (const call of ["start", "pause", "resume", "cancel", "change"] as const) {
    it(`${call} is answered as the table says`, () => {
      const answers = row("");
      for (const state of JOB_STATES) answers[state] = shown(answerTo({ kind: "redrive", state }, call), call);
      expect(answers).toEqual(TABLE[call]);
    });
  }

  it("operators 12.7: a purge that is over is undone, and nothing else", () => {
    const of = (kind: "purge" | "redrive") =>
      Object.fromEntries(JOB_STATES.map((state) => [state, shown(answerTo({ kind, state }, "undo"), "undo")]));
    expect(of("redrive")).toEqual(UNDO.redrive);
    expect(of("purge")).toEqual(UNDO.purge);
  });

  it("goes nowhere that the states do not lead to", () => {
    for (const state of JOB_STATES)
      for (const call of ["start", "pause", "resume", "cancel", "undo"] as const) {
        const answer = answerTo({ kind: "purge", state }, call);
        if (answer.kind === "moves") expect(MAY_FOLLOW[state], `${call} of ${state}`).toContain(answer.to);
      }
    expect(() => moved(aJob({ state: "completed" }), "running", 1)).toThrow("completed cannot become running");
  });
});

const owner = { instanceId: "a", holder: "a/1", beat: 1 };
const calls = fc.constantFrom("pause", "resume", "retry", "cancel", "start");

describe("calls of a job that somebody works on", () => {
  it("ask, and the owner obeys: in the end it is where the last call that was not refused has it", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ call: calls, obeys: fc.boolean() }), { maxLength: 12 }), (steps) => {
        let job: Job = aJob({ state: "running", owner });
        let wanted: JobState = "running";
        for (const { call, obeys } of steps) {
          const request = call === "retry" ? { call: "resume" as const, retryFailed: true as const } : { call };
          const answer = called(job, request, 2_000);
          const told = TABLE[call === "retry" ? "resume" : call][wanted];
          expect("kind" in answer && answer.kind === "refused").toBe(told.startsWith("409"));
          if ("id" in answer) job = answer;
          if (told.startsWith("→ ")) wanted = told.slice(2) as JobState;
          expect(comingState(job)).toBe(wanted);
          if (obeys && job.requested !== undefined) job = obeyed(job, job.requested, 3_000);
          expect(isOver(job.state)).toBe(job.endedAt !== undefined);
        }
        if (job.requested !== undefined) job = obeyed(job, job.requested, 3_000);
        expect(job.state).toBe(wanted);
        expect(job.requested).toBeUndefined();
      }),
    );
  });

  it("move one that nobody works on at once", () => {
    expect(called(aJob({ state: "waiting" }), { call: "pause" }, 5)).toMatchObject({ state: "paused", updatedAt: 5 });
    expect(called(aJob(), { call: "start" }, 5)).toMatchObject({ state: "running", startedAt: 5 });
  });

  it("ask for a count first where an owner is gone that may have done more than it has written", () => {
    const left = aJob({ state: "waiting", uncounted: true });
    for (const call of ["pause", "cancel"] as const)
      expect(called(left, { call }, 5)).toMatchObject({ state: "waiting", requested: { call } });
    const paused = aJob({ state: "paused", uncounted: true });
    expect(called(paused, { call: "resume" }, 5)).toMatchObject({ state: "running", uncounted: true });
  });

  it("withdraw what is not wanted any more", () => {
    const running = aJob({ state: "running", owner });
    const asked = called(running, { call: "pause" }, 2) as Job;
    expect(asked).toMatchObject({ state: "running", requested: { call: "pause" } });
    expect((called(asked, { call: "resume" }, 3) as Job).requested).toBeUndefined();
  });

  it("begin the next try where a pause was asked for that has not come to pass", () => {
    const counts = { succeeded: 3, failed: 4, skipped: 0, inDoubt: 0, restored: 0 };
    const running = aJob({ state: "running", owner, counts, step: { index: 2, done: 7, failed: 4 } });
    const asked = called(running, { call: "pause" }, 2) as Job;
    const again = called(asked, { call: "resume", retryFailed: true }, 3) as Job;
    expect(again).toMatchObject({ state: "running", attempt: 1, requested: { call: "resume", retryFailed: true } });
    const next = obeyed(again, { call: "resume", retryFailed: true }, 4);
    expect(next).toMatchObject({ state: "running", attempt: 2, counts: { succeeded: 3, failed: 0 } });
    expect(next.step).toEqual({ index: 2, done: 0, failed: 0 });
    expect(next.requested).toBeUndefined();
  });
});

describe("resume", () => {
  it("begins the counts of its step anew, and not the step", () => {
    const halted = aJob({
      state: "halted",
      step: { index: 2, done: 40, failed: 5 },
      halted: { at: 1, why: "failure_ratio", failed: 5, attempts: 40 },
    });
    const job = called(halted, { call: "resume" }, 9) as Job;
    expect(job).toMatchObject({ state: "running", step: { index: 2, done: 0, failed: 0 } });
    expect(job.halted).toBeUndefined();
  });

  it("operators 12.1: with retry_failed what failed is to be done again", () => {
    const paused = aJob({
      state: "paused",
      counts: { succeeded: 3, failed: 4, skipped: 1, inDoubt: 0, restored: 0 },
      lanes: [{ routeId: "r", total: 10, done: 8, failed: 4, ended: true, cursor: { failedAt: 1, id: "x" } }],
      errors: [{ fingerprint: "f", code: "REJECTED", error: "no", count: 4, ids: ["x"] }],
    });
    expect(called(paused, { call: "resume", retryFailed: true }, 9)).toMatchObject({
      attempt: 2,
      counts: { succeeded: 3, failed: 0, skipped: 1 },
      errors: [],
      lanes: [{ routeId: "r", total: 10, done: 4, failed: 0, ended: false }],
    });
  });
});
