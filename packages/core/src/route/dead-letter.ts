import { type BridgeError, type DeadLetter, type Envelope, type MessageHeaders, RESERVED } from "@bridge/ports";
import { deadLetterId } from "./identity.ts";

/** Why the bridge gave the message up, in words; the entry's error code and last error have the details. */
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

/** A message that the bridge gave up, and where. */
export interface Casualty {
  /** As received, before any processor: this is what the entry keeps. */
  readonly received: Envelope;
  readonly routeId: string;
  /** Empty if no binding had been chosen. */
  readonly bindingId: string;
  readonly attempts: number;
  /** Epoch milliseconds. */
  readonly failedAt: number;
}

/** In characters. A handler may put a whole response body into its error text, and a page of the DLQ has a thousand entries. */
const LAST_ERROR_LENGTH = 8_192;

/** Builds the entry for a message that the bridge gave up (spec 2.7). */
export function deadLetterOf(casualty: Casualty, error: BridgeError): DeadLetter {
  const { received: envelope, routeId, bindingId, attempts, failedAt } = casualty;
  return {
    id: deadLetterId(routeId, bindingId, envelope),
    routeId,
    bindingId,
    sourceId: envelope.sourceId,
    correlationId: envelope.correlationId,
    subject: envelope.subject,
    reason: reasonOf(error, attempts),
    category: error.class,
    errorCode: error.code,
    lastError: error.message.slice(0, LAST_ERROR_LENGTH),
    failedAt,
    attempts,
    ...redrivenFrom(envelope),
    envelope,
  };
}

/** What the entry of a redriven message says about the original; empty for any other message. */
function redrivenFrom({ headers }: Envelope): Pick<DeadLetter, "causationId" | "redrives"> {
  const causationId = headers[RESERVED.causationId];
  return causationId === undefined ? {} : { causationId, redrives: redrivesOf(headers) };
}

/** How often a message has been redriven. */
export function redrivesOf(headers: MessageHeaders): number {
  const redrives = Number(headers[RESERVED.redrives]);
  return Number.isSafeInteger(redrives) ? Math.max(0, redrives) : 0;
}
