import { isOver, type Job, type JobCall, type JobKind, type JobRequest, type JobState } from "./job.ts";

/** Which state may come after which. */
export const MAY_FOLLOW: Readonly<Record<JobState, readonly JobState[]>> = {
  planned: ["running", "expired", "cancelled", "failed"],
  running: ["paused", "waiting", "halted", "completed", "cancelled", "failed"],
  waiting: ["running", "paused", "halted", "cancelled", "failed"],
  paused: ["running", "cancelled", "failed"],
  halted: ["running", "paused", "cancelled", "failed"],
  undoing: ["undone", "failed"],
  completed: ["undoing"],
  cancelled: ["undoing"],
  failed: [],
  expired: [],
  undone: [],
};

/** What a call comes to. `refused`: `state` when it is not possible from there, `ended` when nothing can be changed any more. */
export type Answer =
  | { readonly kind: "moves"; readonly to: JobState }
  | { readonly kind: "stays" }
  | { readonly kind: "refused"; readonly reason: "state" | "ended" };

const STAYS: Answer = { kind: "stays" };
const REFUSED: Answer = { kind: "refused", reason: "state" };
const ENDED: Answer = { kind: "refused", reason: "ended" };
const RUNNING: Answer = { kind: "moves", to: "running" };
const PAUSED: Answer = { kind: "moves", to: "paused" };
const CANCELLED: Answer = { kind: "moves", to: "cancelled" };
const UNDOING: Answer = { kind: "moves", to: "undoing" };

const OVER = { start: REFUSED, pause: REFUSED, resume: REFUSED, cancel: REFUSED, undo: REFUSED, change: ENDED };

const ANSWERS: Readonly<Record<JobState, Readonly<Record<JobCall, Answer>>>> = {
  planned: { start: RUNNING, pause: REFUSED, resume: REFUSED, cancel: CANCELLED, undo: REFUSED, change: STAYS },
  running: { start: STAYS, pause: PAUSED, resume: STAYS, cancel: CANCELLED, undo: REFUSED, change: STAYS },
  waiting: { start: STAYS, pause: PAUSED, resume: STAYS, cancel: CANCELLED, undo: REFUSED, change: STAYS },
  paused: { start: REFUSED, pause: STAYS, resume: RUNNING, cancel: CANCELLED, undo: REFUSED, change: STAYS },
  halted: { start: REFUSED, pause: PAUSED, resume: RUNNING, cancel: CANCELLED, undo: REFUSED, change: STAYS },
  undoing: { ...OVER, undo: STAYS },
  completed: { ...OVER, undo: UNDOING },
  cancelled: { ...OVER, cancel: STAYS, undo: UNDOING },
  failed: OVER,
  expired: OVER,
  undone: { ...OVER, undo: STAYS },
};

/** What an operator's call comes to in a state. */
export function answerTo({ kind, state }: { readonly kind: JobKind; readonly state: JobState }, call: JobCall): Answer {
  if (call === "undo" && kind === "redrive") return REFUSED;
  return ANSWERS[state][call];
}

/** Where a job will be when what was asked of it has been done. */
export function comingState({ kind, state, requested }: Pick<Job, "kind" | "state" | "requested">): JobState {
  if (requested === undefined) return state;
  const answer = answerTo({ kind, state }, requested.call);
  return answer.kind === "moves" ? answer.to : state;
}

/**
 * The job after a call. One that somebody works on, or has to count first, is asked, and whoever does obeys; another one is moved at once.
 * Calls are judged by where the job will be, so that of two that come at the same time the later one counts.
 */
export function called(job: Job, request: JobRequest | { readonly call: "start" }, now: number): Job | Answer {
  // What is to be over is not: an undo of it would take the place of what is to end it.
  const isJudgedAsItIs = request.call === "undo" && !isOver(job.state);
  const answer = answerTo({ kind: job.kind, state: isJudgedAsItIs ? job.state : comingState(job) }, request.call);
  if (answer.kind === "refused") return answer;
  if (answer.kind === "stays") return job;
  const isNobodys = job.owner === undefined && (job.uncounted !== true || request.call === "resume");
  if (isNobodys || request.call === "start") return obeyed({ ...job, requested: undefined }, request, now);
  // What was asked before is not wanted any more; where it stands still, there is nothing to ask for.
  const withdrawn = answer.to === job.state && !("retryFailed" in request && request.retryFailed === true);
  return { ...job, requested: withdrawn ? undefined : request };
}

/** The job once a request has been carried out; as it is when there is nothing to be carried out from its state. */
export function obeyed(job: Job, request: JobRequest | { readonly call: "start" }, now: number): Job {
  const { requested: _, ...rest } = job;
  const isNextTry = "retryFailed" in request && request.retryFailed === true;
  // It was asked for where the job was to be paused, before its owner had come to that.
  const isPausedFirst = isNextTry && (job.state === "running" || job.state === "waiting");
  const from = isPausedFirst ? moved(rest, "paused", now) : rest;
  const answer = answerTo(from, request.call);
  if (answer.kind !== "moves") return rest;
  const next = moved(from, answer.to, now);
  return isNextTry ? withFailedAgain(next) : next;
}

/** @throws Error when the table does not have it */
export function moved(job: Job, to: JobState, now: number): Job {
  if (job.state === to) return job;
  if (!MAY_FOLLOW[job.state].includes(to)) throw new Error(`a job that is ${job.state} cannot become ${to}`);
  const { waitingFor: _, halted, endedAt: _ended, ...rest } = job;
  return {
    ...rest,
    state: to,
    updatedAt: now,
    ...(to === "running" && { startedAt: job.startedAt ?? now }),
    ...(to === "running" && undoUntilOf(job, now)),
    // Whoever pauses a job that has halted still wants to know why it did.
    ...(to !== "running" && halted !== undefined && { halted }),
    ...(isOver(to) && { endedAt: now }),
    // What is counted for halting begins anew.
    ...(to === "running" && job.state !== "waiting" && { step: { index: job.step.index, done: 0, failed: 0 } }),
  };
}

/** From the start on, so that what was purged first can be taken back as long as the rest. */
function undoUntilOf({ startedAt, undoWithinMs = 0 }: Job, now: number): Pick<Job, "undoUntil"> | undefined {
  return startedAt === undefined && undoWithinMs > 0 ? { undoUntil: now + undoWithinMs } : undefined;
}

/** Begins the next try: what failed in the one before is to be done again. */
function withFailedAgain(job: Job): Job {
  return {
    ...job,
    attempt: job.attempt + 1,
    counts: { ...job.counts, failed: 0 },
    errors: [],
    ahead: [],
    lanes: job.lanes.map(({ routeId, total, done, failed }) => ({
      routeId,
      total,
      done: done - failed,
      failed: 0,
      ended: false,
    })),
  };
}

/** Whether its owner works on it. */
export function isAtWork({ state }: Job): boolean {
  return state === "running" || state === "undoing";
}

/** The job as its owner gives it out of hand: what was asked for is carried out with that. */
export function givenUp(known: Job, now: number): Job {
  const { owner: _, ...job } = isAtWork(known) ? { ...known, waitingFor: undefined } : known;
  return job.requested === undefined ? job : obeyed(job, job.requested, now);
}
