import type { BridgeError, DeadLetter } from "@bridge/ports";
import { deadLetterId } from "./identity.ts";
import type { Work } from "./work.ts";

/** Why a message was given up, in words; the details are in the entry's error code and last error. */
function reasonOf(error: BridgeError, attempts: number): string {
  switch (error.class) {
    case "transient":
      return `still failing after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}`;
    case "permanent":
      return "cannot be delivered as the bridge and its target are configured";
    case "rejected":
      return "the message itself was refused";
    case "expired":
      return "expired before it could be delivered";
    case "filtered":
      return "filtered out by a processor";
  }
}

/** The entry for a message that was given up (spec 2.7). It keeps the envelope as it was received. */
export function deadLetterOf(
  work: Work,
  where: { readonly routeId: string; readonly bindingId: string },
  error: BridgeError,
  attempts: number,
  failedAt: number,
): DeadLetter {
  const envelope = work.received;
  return {
    id: deadLetterId(where.routeId, where.bindingId, envelope),
    routeId: where.routeId,
    bindingId: where.bindingId,
    sourceId: envelope.sourceId,
    correlationId: envelope.correlationId,
    subject: envelope.subject,
    reason: reasonOf(error, attempts),
    category: error.class,
    errorCode: error.code,
    lastError: error.message,
    failedAt,
    attempts,
    envelope,
  };
}
