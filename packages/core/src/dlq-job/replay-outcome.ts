import { BridgeError, type DeadLetter, type DeadLetterHead, type ErrorCode } from "@bridge/ports";
import { isSpoiled, type SpoiledDeadLetter } from "@bridge/ports/internal";
import { attempt, type Attempted, notDelivered, REPLAY_TIMEOUT_MS } from "../dlq/attempt.ts";
import { deleteDelivered } from "../dlq/delete-delivered.ts";
import { askStore, ensureMarked, type MarkWatch } from "../dlq/ensure-marked.ts";
import { entryOrSpoiled } from "../dlq/entry-or-spoiled.ts";
import { failureIn, markOf, type ReplayFailure } from "../dlq/failed-replay.ts";
import type { Job } from "./job.ts";
import type { JobParts } from "./job-parts.ts";
import { isPlanned } from "./planned-entry.ts";
import type { EntriesStore } from "./watched-store.ts";

/** What became of an entry in a try of a job. */
export type ReplayOutcome =
  | { readonly kind: "succeeded" }
  /** `keptBack`: it is there, and quarantined or not planned for; else it is gone. */
  | { readonly kind: "skipped"; readonly keptBack?: DeadLetter | undefined }
  /** In the outbox: `late` when this attempt has waited there for its whole time, else another one has put it there. */
  | { readonly kind: "pending"; readonly late: boolean }
  /** `before`: nothing was tried now. This try had it already, then `of` is the entry that says so; or it cannot be. */
  | {
      readonly kind: "failed";
      readonly failure: ReplayFailure;
      readonly before: boolean;
      readonly of?: DeadLetter | undefined;
    }
  /** Nothing was tried, or it is not known what came of it (`inDoubt`): it comes again, under the same envelope id. */
  | { readonly kind: "back"; readonly why: string; readonly inDoubt: boolean }
  /** Delivered, and the store did not delete it: it comes again, and is only deleted. */
  | { readonly kind: "undeleted"; readonly why: string };

const UNMARKED = "the DLQ store took no mark";
const UNDELETED: ReplayOutcome = { kind: "undeleted", why: "the DLQ store did not delete what was delivered" };

export interface ReplayContext extends Pick<JobParts, "clock" | "logger" | "replay" | "delivered">, MarkWatch {
  readonly store: EntriesStore;
  readonly job: Pick<Job, "id" | "kind" | "attempt" | "bindingId" | "createdAt" | "query">;
  readonly signal: AbortSignal;
}

/** The entry as it is now, why it cannot be read, or what becomes of it without an attempt. */
export async function fetchEntry(
  { store, job, clock, signal, delivered }: ReplayContext,
  head: Pick<DeadLetterHead, "id">,
): Promise<DeadLetter | SpoiledDeadLetter | ReplayOutcome> {
  let entry: DeadLetter | SpoiledDeadLetter | undefined;
  try {
    entry = await askStore({ clock, signal }, (bound) => entryOrSpoiled(store.get(head.id, bound)));
  } catch (thrown) {
    return { kind: "back", why: `the DLQ store failed: ${BridgeError.from(thrown).message}`, inDoubt: false };
  }
  if (isSpoiled(entry)) return entry;
  // The same message may have failed again meanwhile, which is another failure under the same id.
  if (entry === undefined || entry.failedAt >= job.createdAt) {
    const { id } = head;
    const isAnother = entry !== undefined && delivered.has(entry);
    if (isAnother || !delivered.hasId(id)) return { kind: "skipped" };
    // The answer of the call that has deleted it was lost, or somebody else has deleted it, or has it in the trash.
    const deleting = askStore({ clock, signal }, (bound) => deleteDelivered({ store, delivered, ids: [id] }, bound));
    const gone = await deleting.catch(() => undefined);
    return gone?.has(id) === true ? { kind: "succeeded" } : UNDELETED;
  }
  const mark = markOf(entry, { jobId: job.id, attempt: job.attempt });
  if (mark !== undefined) return { kind: "failed", failure: failureIn(mark), before: true, of: entry };
  // Nothing holds back what is only to be deleted.
  if (delivered.has(entry)) return entry;
  const isHeldBack = entry.marks?.quarantined === true && job.query.quarantined !== true;
  return isHeldBack || !isPlanned(entry, job) ? { kind: "skipped", keptBack: entry } : entry;
}

/** What can never be sent has failed, and is marked as what was sent in vain. */
export async function failSpoiled(
  context: ReplayContext,
  entryId: string,
  { code, message }: SpoiledDeadLetter,
): Promise<ReplayOutcome> {
  const of = { jobId: context.job.id, attempt: context.job.attempt };
  const failure = await ensureMarked(context, { ...of, entryId }, { code, error: message });
  if (failure === "gone") return { kind: "skipped" };
  if (failure === undefined) return { kind: "back", why: UNMARKED, inDoubt: false };
  return { kind: "failed", failure, before: true };
}

/** One attempt; a failure is marked before this resolves, if the entry is still there. */
export async function replayEntry(context: ReplayContext, entry: DeadLetter): Promise<ReplayOutcome> {
  const { job, replay, signal } = context;
  const of = { jobId: job.id, attempt: job.attempt };
  const sent = job.bindingId === undefined ? entry : { ...entry, bindingId: job.bindingId };
  const attempted = await attempt({ ...context, replay: (bound) => replay(sent, bound, of) }, entry);
  const outcome = outcomeOf(attempted);
  if (outcome.kind !== "failed") return outcome;
  const failure = await ensureMarked(context, { ...of, entryId: entry.id }, outcome.failure);
  // Whoever has deleted it does not want it sent any more, or has delivered it.
  if (failure === "gone") return { kind: "skipped" };
  return failure === undefined
    ? { kind: "back", why: UNMARKED, inDoubt: !signal.aborted || attempted.kind !== "refused" }
    : { ...outcome, failure };
}

function outcomeOf(attempted: Attempted): ReplayOutcome {
  switch (attempted.kind) {
    case "delivered":
    case "gone":
      return { kind: "succeeded" };
    case "not_deleted":
      return UNDELETED;
    case "unknown":
      return attempted.late
        ? failed("TIMEOUT", `not delivered within ${REPLAY_TIMEOUT_MS / 1_000} s, outcome unknown`)
        : { kind: "back", why: "it was given up", inDoubt: true };
    case "failed":
      return failed(attempted.error.code, `the inject failed: ${attempted.error.message}`);
    case "not_delivered":
      return failed(attempted.result.error?.code ?? "REJECTED", notDelivered(attempted.result));
    case "refused": {
      const { kind, message } = attempted.error;
      if (kind === "pending") return { kind: "pending", late: attempted.late };
      if (kind === "not_found") return failed("BINDING_UNRESOLVED", "route or binding not found");
      return { kind: "back", why: message, inDoubt: kind === "failed" };
    }
  }
}

function failed(code: ErrorCode, error: string): ReplayOutcome {
  return { kind: "failed", failure: { code, error }, before: false };
}
