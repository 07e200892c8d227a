import { doneOf, type Job } from "./job.ts";
import { FIRST_STEP, shownStep } from "./ramp.ts";

/** How far a job is: what is shown of it. */
export interface JobProgress {
  readonly total: number;
  /** False: not all of them were counted, and there may be more or fewer. */
  readonly exact: boolean;
  readonly done: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
  readonly pending: number;
  readonly inDoubt: number;
  readonly restored: number;
  readonly present: number;
  readonly gone: number;
  readonly remaining: number;
  /** Whether `remaining` and `percent` tell anything: not of a job that has done what was counted, and may find more. */
  readonly isLeftKnown: boolean;
  readonly inFlight: number;
  /** With one decimal, rounded down: 100 means all. */
  readonly percent: number;
  /** Entries a second, of late. */
  readonly rate: number;
  /** Milliseconds; absent while nothing moves. */
  readonly etaMs?: number | undefined;
  readonly step: ReturnType<typeof shownStep>;
}

export function progressOf(job: Job): JobProgress {
  const { kind, counts, pending, inFlight, pace, settings, step, state, plan, lanes } = job;
  const done = doneOf(counts);
  // With a limit, what was seen is what it is about.
  const exact = plan.exact || job.until !== undefined || lanes.every(({ ended }) => ended);
  const met = done + pending.length + inFlight;
  const isLeftKnown = exact || job.total > met;
  const total = exact ? job.total : Math.max(job.total, met);
  const remaining = Math.max(0, total - done);
  const moves = state === "running" && pace > 0 && remaining > 0 && isLeftKnown;
  return {
    total,
    exact,
    done,
    ...counts,
    present: counts.present ?? 0,
    gone: counts.gone ?? 0,
    pending: pending.length,
    remaining,
    isLeftKnown,
    inFlight,
    percent: total === 0 ? 100 : Math.floor((done * 1_000) / total) / 10,
    rate: state === "running" ? Math.round(pace * 10) / 10 : 0,
    ...(moves && { etaMs: Math.round((remaining * 1_000) / pace) }),
    // A purge has no target to be careful with: it goes in one step.
    step:
      kind === "purge"
        ? shownStep([], { ...FIRST_STEP, done }, { total, remaining })
        : shownStep(settings.ramp, step, { total, remaining }),
  };
}
