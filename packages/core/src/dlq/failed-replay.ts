import {
  type DeadLetter,
  type DlqMarks,
  type Envelope,
  type ErrorCode,
  newHeaders,
  type RedriveMark,
  RESERVED,
} from "@bridge/ports";
import { NO_JOB, readReplayHeader, type ReplayOf } from "../dlq-job/replay-id.ts";

/** A replay that leaves a mark on its dead letter when it fails, and no second entry: of a job, or of one entry alone. */
export interface FailedReplay extends ReplayOf {
  readonly entryId: string;
}

/** Why an entry was not delivered. */
export interface ReplayFailure {
  readonly code: ErrorCode;
  readonly error: string;
}

/** As a mark tells it. */
export function failureIn({ lastCode, lastError }: RedriveMark): ReplayFailure {
  return { code: lastCode, error: lastError };
}

/** `undefined` for what leaves no mark. `received` is as it came out of the replay, before any processor. */
export function replayIn(
  { headers }: Pick<Envelope, "headers">,
  entryId: string | undefined,
): FailedReplay | undefined {
  if (entryId === undefined) return undefined;
  const job = readReplayHeader(headers[RESERVED.job]);
  return job && { ...job, entryId };
}

/** What this try has left on the entry; `undefined`: it has not failed. */
export function markOf(
  entry: Pick<DeadLetter, "marks"> | undefined,
  { jobId, attempt }: ReplayOf,
): RedriveMark | undefined {
  const redrives = entry?.marks?.redrives;
  return redrives?.jobTry === attempt && (redrives.jobId ?? NO_JOB) === jobId ? redrives : undefined;
}

/** What an entry would say of the failure, as a mark on the original. Returns whether that was there. */
export async function markFailed(
  marks: DlqMarks,
  { entryId, jobId, attempt }: FailedReplay,
  { failedAt: lastAt, errorCode: lastCode, lastError }: Pick<DeadLetter, "failedAt" | "errorCode" | "lastError">,
  signal: AbortSignal,
): Promise<boolean> {
  const of = { ...(jobId !== NO_JOB && { jobId }), jobTry: attempt };
  const redriven = { lastAt, lastCode, lastError, ...of };
  return (await marks.mark(new Map([[entryId, { redriven }]]), signal)).has(entryId);
}

/** The entry as it is written in a store that keeps no marks: it belongs to no job. */
export function withoutJob(entry: DeadLetter): DeadLetter {
  const headers = Object.assign(newHeaders(), entry.envelope.headers);
  delete headers[RESERVED.job];
  delete headers[RESERVED.dedupId];
  return { ...entry, envelope: { ...entry.envelope, headers } };
}
