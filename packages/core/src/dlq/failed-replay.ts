import { type DeadLetter, type DlqMarks, type Envelope, newHeaders, type RedriveMark, RESERVED } from "@bridge/ports";
import { readReplayHeader, type ReplayOf } from "../dlq-job/replay-id.ts";

/** A replay of a job, which leaves a mark on its dead letter when it fails, and no second entry. */
export interface FailedReplay extends ReplayOf {
  readonly entryId: string;
}

/** `undefined` for what no job redrives. `received` is as it came out of the replay, before any processor. */
export function replayIn(
  { headers }: Pick<Envelope, "headers">,
  entryId: string | undefined,
): FailedReplay | undefined {
  if (entryId === undefined) return undefined;
  const job = readReplayHeader(headers[RESERVED.job]);
  return job && { ...job, entryId };
}

/** What this try of the job has left on the entry; `undefined`: it has not failed. */
export function markOf(
  entry: Pick<DeadLetter, "marks"> | undefined,
  { jobId, attempt }: ReplayOf,
): RedriveMark | undefined {
  const redrives = entry?.marks?.redrives;
  return redrives?.jobId === jobId && redrives.jobTry === attempt ? redrives : undefined;
}

/** What an entry would say of the failure, as a mark on the original. Returns whether that was there. */
export async function markFailed(
  marks: DlqMarks,
  { entryId, jobId, attempt }: FailedReplay,
  { failedAt: lastAt, errorCode: lastCode, lastError }: Pick<DeadLetter, "failedAt" | "errorCode" | "lastError">,
  signal: AbortSignal,
): Promise<boolean> {
  const redriven = { lastAt, lastCode, lastError, jobId, jobTry: attempt };
  return (await marks.mark(new Map([[entryId, { redriven }]]), signal)).has(entryId);
}

/** The entry as it is written when the original is gone: it belongs to no job. */
export function withoutJob(entry: DeadLetter): DeadLetter {
  const headers = Object.assign(newHeaders(), entry.envelope.headers);
  delete headers[RESERVED.job];
  return { ...entry, envelope: { ...entry.envelope, headers } };
}
