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
  /** The dead letter that it redrives. */
  readonly entry?: DeadLetter | undefined;
  readonly unmarked?: ReplayRequest["unmarked"];
}

/**
 * A dead letter as it is sent again (spec 4.6.5): the identity marker and the deduplication key are dropped, so that nothing
 * downstream suppresses the repeat, and the causation id names the original. A job repeats one under the same envelope id, which is its
 * deduplication key, too.
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
    // Some targets know repeats by this alone.
    headers[RESERVED.dedupId] = id;
  }
  const envelope: Envelope = { ...entry.envelope, id, headers, receivedAt: clock.now() };
  const onlyBinding = entry.bindingId === "" ? undefined : entry.bindingId;
  return { envelope, onlyBinding, entry, unmarked: job?.unmarked };
}

/** What its operator is told. @throws OperationError when it did not come to an end, or the signal's reason when that aborted */
export function resultOf(work: Work, outcome: DrainedOutcome, signal: AbortSignal): InjectResult {
  const { received, span } = work;
  const { disposition, error, failedBindings, warning, entryMayBeGone } = outcome;
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
    ...(entryMayBeGone !== undefined && { entryMayBeGone }),
    ...(span !== undefined && { trace: span.context }),
  };
}

/** What is asked of a route that a change of configuration is replacing. */
export function replaced(): OperationError {
  return new OperationError("unavailable", "the route is being replaced by a change of configuration: try again");
}

/** What is asked of a route that sends over a session of another instance. */
export function leasedElsewhere({ sessionId }: Lease): OperationError {
  const message = `this instance does not hold the lease of session ${sessionId}, over which the route sends: ask the one that does`;
  return new OperationError("unavailable", message);
}

/** The same for a job, which waits for it. */
export function leaseElsewhere({ sessionId, elsewhere }: Lease): string {
  return `lease of session ${sessionId} is ${elsewhere ? "held by another instance" : "not held"}`;
}

/** What was given up, at a stop or at its bound, while it waited to be sent. */
export function notBegun(): OperationError {
  return new OperationError("not_begun", "the message was given up before anything was sent: nothing became of it");
}

/** What was on its way to a target. */
function givenUp(): OperationError {
  const why = "the bridge was stopped, or another instance has taken over the lease of its session";
  return new OperationError(
    "failed",
    `the message was given up after it had been sent: ${why}; its outcome is not known`,
  );
}
