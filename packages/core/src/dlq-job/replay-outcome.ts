import { BridgeError, type DeadLetter, type DeadLetterHead, type ErrorCode } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import { attempt, type Attempted, REPLAY_TIMEOUT_MS } from "../dlq/attempt.ts";
import { markFailed, markOf } from "../dlq/failed-replay.ts";
import type { Job } from "./job.ts";
import type { JobParts, JobsStore } from "./job-parts.ts";

/** Why an entry was not delivered. */
export interface ReplayFailure {
  readonly code: ErrorCode;
  readonly error: string;
}

/** What became of an entry in a try of a job. */
export type ReplayOutcome =
  | { readonly kind: "succeeded" | "skipped" | "pending" }
  /** `before`: this try had it already. */
  | { readonly kind: "failed"; readonly failure: ReplayFailure; readonly before: boolean }
  /** Nothing was tried, or it is not known what came of it (`inDoubt`): it comes again, under the same envelope id. */
  | { readonly kind: "back"; readonly why: string; readonly inDoubt: boolean };

const STORE_TIMEOUT_MS = 10_000;
/** Between two tries to mark an entry. */
const MARK_PAUSE_MS = 500;

export interface ReplayContext extends Pick<JobParts, "clock" | "logger" | "replay" | "delivered"> {
  readonly store: JobsStore;
  readonly job: Pick<Job, "id" | "attempt" | "bindingId" | "createdAt" | "query">;
  readonly signal: AbortSignal;
}

/** The entry as it is now, or what becomes of it without an attempt. */
export async function fetchEntry(
  { store, job, clock, signal }: ReplayContext,
  head: Pick<DeadLetterHead, "id">,
): Promise<DeadLetter | ReplayOutcome> {
  let entry: DeadLetter | undefined;
  try {
    entry = await bounded({ clock, signal }, (bound) => store.get(head.id, bound));
  } catch (thrown) {
    return { kind: "back", why: `the DLQ store failed: ${BridgeError.from(thrown).message}`, inDoubt: false };
  }
  // The same message may have failed again meanwhile, which is another failure under the same id.
  if (entry === undefined || entry.failedAt >= job.createdAt) return { kind: "skipped" };
  const mark = markOf(entry, { jobId: job.id, attempt: job.attempt });
  if (mark !== undefined)
    return { kind: "failed", failure: { code: mark.lastCode, error: mark.lastError }, before: true };
  if (entry.marks?.quarantined === true && job.query.quarantined !== true) return { kind: "skipped" };
  return entry;
}

/** One attempt; a failure is marked before this resolves. */
export async function replayEntry(context: ReplayContext, entry: DeadLetter): Promise<ReplayOutcome> {
  const { job, replay, signal } = context;
  const of = { jobId: job.id, attempt: job.attempt };
  const sent = job.bindingId === undefined ? entry : { ...entry, bindingId: job.bindingId };
  const attempted = await attempt({ ...context, replay: (bound) => replay(sent, bound, of) }, entry);
  const outcome = outcomeOf(attempted);
  if (outcome.kind !== "failed") return outcome;
  return (await ensureMarked(context, entry, outcome.failure))
    ? outcome
    : { kind: "back", why: "the DLQ store took no mark", inDoubt: !signal.aborted || attempted.kind !== "refused" };
}

function outcomeOf(attempted: Attempted): ReplayOutcome {
  switch (attempted.kind) {
    case "delivered":
    case "gone":
      return { kind: "succeeded" };
    case "not_deleted":
      return { kind: "back", why: "the DLQ store did not delete what was delivered", inDoubt: false };
    case "unknown":
      return attempted.late
        ? failed("TIMEOUT", `not delivered within ${REPLAY_TIMEOUT_MS / 1_000} s, outcome unknown`)
        : { kind: "back", why: "it was given up", inDoubt: true };
    case "failed":
      return failed(attempted.error.code, `the inject failed: ${attempted.error.message}`);
    case "not_delivered": {
      const { outcome, error } = attempted.result;
      const why = error === undefined ? "" : `: ${error.message}`;
      return failed(error?.code ?? "REJECTED", `not delivered, ${outcome}${why}`);
    }
    case "refused": {
      const { kind, message } = attempted.error;
      if (kind === "pending") return { kind: "pending" };
      if (kind === "not_found") return failed("BINDING_UNRESOLVED", "route or binding not found");
      return { kind: "back", why: message, inDoubt: kind === "failed" };
    }
  }
}

function failed(code: ErrorCode, error: string): ReplayOutcome {
  return { kind: "failed", failure: { code, error }, before: false };
}

/** The route has marked it if it kept it as a dead letter; else it is done here. False when that was given up. */
async function ensureMarked(
  { store, job, clock, signal }: ReplayContext,
  { id }: DeadLetter,
  { code, error }: ReplayFailure,
): Promise<boolean> {
  const replay = { jobId: job.id, attempt: job.attempt, entryId: id };
  for (;;) {
    try {
      const there = await bounded({ clock, signal }, (bound) => store.get(id, bound));
      if (there === undefined || markOf(there, replay) !== undefined) return true;
      const failure = { failedAt: clock.now(), errorCode: code, lastError: error };
      await bounded({ clock, signal }, (bound) => markFailed(store.marks, replay, failure, bound));
      return true;
    } catch {
      if (signal.aborted) return false;
      await clock.delay(MARK_PAUSE_MS, signal).catch(() => {});
    }
  }
}

async function bounded<Result>(
  { clock, signal }: Pick<ReplayContext, "clock" | "signal">,
  work: (bound: AbortSignal) => Promise<Result>,
): Promise<Result> {
  using limit = deadline(clock, STORE_TIMEOUT_MS, () => new BridgeError("TIMEOUT", "the DLQ store did not answer"));
  const both = AbortSignal.any([signal, limit.signal]);
  return await orAborted(work(both), both);
}
