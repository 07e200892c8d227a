import { describe, expect, test } from "vitest";
import { refuseCall, refuseEnded } from "../../src/dlq-job/call-refusals.ts";
import { ENDED_STATES, isOver, JOB_STATES, type Job, type JobCall, type JobRequest } from "../../src/dlq-job/job.ts";
import { called, comingState, obeyed } from "../../src/dlq-job/job-state.ts";
import { aJob } from "./a-job.ts";

const OWNER = { instanceId: "a", holder: "a/1", beat: 1 };
const KINDS = ["redrive", "purge"] as const;
const NEXT = ["start", "pause", "resume", "cancel", "undo"] as const;
const FIRST: readonly JobRequest[] = [
  { call: "pause" },
  { call: "resume" },
  { call: "resume", retryFailed: true },
  { call: "cancel" },
  { call: "undo" },
];

/** By where a job is, or is going to by what was asked first: which calls are refused then, and with which words. */
const REFUSED: Readonly<Record<string, readonly JobCall[]>> = {
  planned: ["pause", "resume", "undo"],
  running: ["undo"],
  waiting: ["undo"],
  paused: ["start", "undo"],
  halted: ["start", "undo"],
  undoing: ["start", "pause", "resume", "cancel"],
  completed: ["start", "pause", "resume", "cancel"],
  cancelled: ["start", "pause", "resume"],
  failed: NEXT,
  expired: NEXT,
  undone: ["start", "pause", "resume", "cancel"],
  "being paused": ["start", "undo"],
  "being resumed": ["undo"],
  "being cancelled": ["start", "pause", "resume", "undo"],
  "being undone": ["start", "pause", "resume", "cancel"],
};

function expected(kind: Job["kind"], standing: string, call: JobCall): string | undefined {
  if (standing === "failed") return `the job is failed: ${aJob().reason}`;
  if (kind === "redrive" && call === "undo") return "a redrive cannot be undone";
  return REFUSED[standing]?.includes(call) === true ? `the job is ${standing}` : undefined;
}

/** What the refusal says; `undefined`: it is not refused. */
function refusal(job: Job, call: (typeof NEXT)[number]): string | undefined {
  const next = called(job, { call }, 2);
  if ("id" in next) return undefined;
  try {
    refuseCall(job, call);
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

function words({ state, requested }: Job): string {
  if (requested === undefined) return state;
  return { pause: "being paused", resume: "being resumed", cancel: "being cancelled", undo: "being undone" }[
    requested.call
  ];
}

/** In somebody's hands, or to be counted by somebody; what nobody has moves at once, so that nothing is under way. */
const HANDS = [{ owner: OWNER }, { uncounted: true }, {}] as const;

/** In each state, and with whatever may have been asked for and is under way there. */
const JOBS: readonly Job[] = KINDS.flatMap((kind) =>
  JOB_STATES.flatMap((state) =>
    HANDS.flatMap((hands) => {
      const job = aJob({ kind, state, undoUntil: 9_000, ...hands });
      const asked = FIRST.map((request) => called(job, request, 1)).filter((next): next is Job => "id" in next);
      const again = asked.flatMap((one) => FIRST.map((request) => called(one, request, 1)));
      return [job, ...asked, ...again.filter((next): next is Job => "id" in next)];
    }),
  ),
);

describe("interface 4.10: of what was asked and what is asked next", () => {
  test.each(NEXT)("a refused %s names what is true", (call) => {
    const wrong = JOBS.filter((job) => refusal(job, call) !== expected(job.kind, words(job), call)).map(
      (job) => `${job.kind} ${words(job)}: ${refusal(job, call) ?? "taken"}`,
    );
    expect(wrong).toEqual([]);
  });

  test("nothing of a job is changed that is over, or is to be, and what is true is named", () => {
    const ends = [...ENDED_STATES, "undoing", "being cancelled", "being undone"];
    for (const job of JOBS) {
      const standing = words(job);
      const says = `the job is ${standing}: nothing of it can be changed`;
      if (ends.includes(standing)) expect(() => refuseEnded(job)).toThrow(says);
      else expect(() => refuseEnded(job)).not.toThrow();
    }
  });

  test("what is taken comes to pass, and takes nothing else's place that has to", () => {
    for (const job of JOBS)
      for (const call of NEXT) {
        const next = called(job, { call }, 2);
        if (!("id" in next) || next.requested === undefined) continue;
        const done = obeyed(next, next.requested, 3);
        const coming = comingState(next);
        // What waits goes on by itself.
        const goesOn = coming === "running" || coming === "waiting";
        const comesTo = goesOn ? ["running", "waiting"] : [coming];
        expect(comesTo, `${call} of a ${job.kind} ${words(job)}`).toContain(done.state);
        if (job.requested?.call === "cancel" && !isOver(job.state)) expect(done.state).toBe("cancelled");
      }
  });
});
