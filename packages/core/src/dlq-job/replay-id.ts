import { hash } from "node:crypto";
import type { BridgeError } from "@bridge/ports";

/** The job that a replay belongs to, and which try of it. */
export interface ReplayOf {
  /** {@link NO_JOB} for one that an operator asks for. */
  readonly jobId: string;
  readonly attempt: number;
}

/** In place of a job: the redrive of a single entry, whose try has a number that no other has. No job is called so. */
export const NO_JOB = "redrive";

/** One that waits for its turn, which may come when it is not to be sent any more. */
export interface ReplayRequest extends ReplayOf {
  /** Asked when its turn has come. */
  readonly mayBegin?: (() => boolean) | undefined;
  /** Told each time that it has failed and its dead letter took no mark. */
  readonly unmarked?: ((failure: BridgeError) => void) | undefined;
}

const LENGTH = 32;

/**
 * The envelope id of a replay: another than that of the original and of other jobs, and the same when the job repeats the entry after a
 * crash, so that whoever knows repeats by their ids knows this one.
 */
export function replayId({ jobId, attempt }: ReplayOf, entryId: string): string {
  return hash("sha256", JSON.stringify(["replay", jobId, entryId, attempt]), "base64url").slice(0, LENGTH);
}

/** As the reserved header has it. */
export function replayHeader({ jobId, attempt }: ReplayOf): string {
  return `${jobId}/${attempt}`;
}

/** `undefined` for what is none. */
export function readReplayHeader(value: string | undefined): ReplayOf | undefined {
  if (value === undefined) return undefined;
  const at = value.lastIndexOf("/");
  const attempt = Number(value.slice(at + 1));
  return at > 0 && Number.isSafeInteger(attempt) && attempt > 0 ? { jobId: value.slice(0, at), attempt } : undefined;
}
