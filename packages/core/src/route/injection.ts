import { type BridgeError, type DeadLetter, type Envelope, newHeaders, RESERVED, type Seams } from "@bridge/ports";
import { replayHeader, replayId, type ReplayRequest } from "../dlq-job/replay-id.ts";
import type { Lease } from "../lease/lease.ts";
import { OperationError } from "../operation-error.ts";
import type { DrainedOutcome } from "../outbox/route-outbox.ts";
import { redrivesOf } from "./dead-letter.ts";
import type { InjectResult } from "./inject-result.ts";
import type { Work } from "./work.ts";

/** A message that does not come from the source. */
export interface Injection {
  readonly envelope: Envelope;
  readonly refused?: BridgeError | undefined;
  readonly onlyBinding?: string | undefined;
  /** The dead letter to redrive. */
  readonly entry?: DeadLetter | undefined;
  readonly unmarked?: ReplayRequest["unmarked"];
}

/**
 * Builds the message that redrives a dead letter (spec 4.6.5). It drops the identity marker and the deduplication key,
 * so that nothing downstream suppresses the repeat; the causation id names the original. A job repeats a redrive under
 * the same envelope id, which then is also the deduplication key.
 */
export function replayOf(
  entry: DeadLetter,
  { clock, random }: Pick<Seams, "clock" | "random">,
  job?: ReplayRequest,
): Injection {
  const headers = Object.assign(newHeaders(), entry.envelope.headers);
  headers[RESERVED.causationId] = entry.envelope.id;
  headers[RESERVED.redrives] = `${redrivesOf(entry.envelope.headers) + 1}`;
  delete headers[RESERVED.generatedId];
  delete headers[RESERVED.dedupId];
  delete headers[RESERVED.job];
  const id = job === undefined ? random.id() : replayId(job, entry.id);
  if (job !== undefined) {
    headers[RESERVED.job] = replayHeader(job);
    // Some targets recognise repeats by this header alone.
    headers[RESERVED.dedupId] = id;
  }
  const envelope: Envelope = { ...entry.envelope, id, headers, receivedAt: clock.now() };
  const onlyBinding = entry.bindingId === "" ? undefined : entry.bindingId;
  return { envelope, onlyBinding, entry, unmarked: job?.unmarked };
}

/**
 * The result for the operator. @throws OperationError when the message did not reach an end, or the signal's reason
 * when that aborted
 */
export function resultOf(work: Work, outcome: DrainedOutcome, signal: AbortSignal): InjectResult {
  const { received, span } = work;
  const { disposition, error, failedBindings, warning, unsent, entryMayBeGone } = outcome;
  if (disposition === "abandoned" || disposition === "released" || disposition === "persisted") {
    if (!work.handedOut) throw notBegun();
    signal.throwIfAborted();
    throw givenUp();
  }
  return {
    envelopeId: received.id,
    outcome: disposition,
    failedBindings,
    ...(error !== undefined && { error }),
    ...(warning !== undefined && { warning }),
    ...(unsent !== undefined && { unsent }),
    ...(entryMayBeGone !== undefined && { entryMayBeGone }),
    ...(span !== undefined && { trace: span.context }),
  };
}

/** The error while a change of configuration is replacing the route. */
export function replaced(): OperationError {
  return new OperationError("unavailable", "the route is being replaced by a change of configuration: try again");
}

/** The error while another instance holds the session that the route sends over. */
export function leasedElsewhere({ sessionId }: Lease): OperationError {
  const message = `this instance does not hold the lease of session ${sessionId}, over which the route sends: ask the one that does`;
  return new OperationError("unavailable", message);
}

/** The same in words, for a job that waits for the lease. */
export function leaseElsewhere({ sessionId, elsewhere }: Lease): string {
  return `lease of session ${sessionId} is ${elsewhere ? "held by another instance" : "not held"}`;
}

/** The error for work that a stop or its time limit ended before anything was sent. */
export function notBegun(): OperationError {
  return new OperationError("not_begun", "the message was given up before anything was sent: nothing became of it");
}

/** The error for work that was on its way to a target. */
function givenUp(): OperationError {
  const why = "the bridge was stopped, or another instance has taken over the lease of its session";
  return new OperationError(
    "failed",
    `the message was given up after it had been sent: ${why}; its outcome is not known`,
  );
}
