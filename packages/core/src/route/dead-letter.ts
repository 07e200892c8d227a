import { type BridgeError, type DeadLetter, type Envelope, type MessageHeaders, RESERVED } from "@bridge/ports";
import { deadLetterId } from "./identity.ts";

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

/** A message that was given up, and where. */
export interface Casualty {
  /** As it was received, before any processor: what the entry keeps. */
  readonly received: Envelope;
  readonly routeId: string;
  /** Empty when none had been chosen. */
  readonly bindingId: string;
  readonly attempts: number;
  /** Epoch milliseconds. */
  readonly failedAt: number;
}

/** Characters: a handler may throw an error with all of an answer in its text, and a page of the DLQ has a thousand entries. */
const LAST_ERROR_LENGTH = 8_192;

/** The entry for a message that was given up (spec 2.7). */
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

/** What a redriven message tells of the one that it repeats; nothing of another one. */
function redrivenFrom({ headers }: Envelope): Pick<DeadLetter, "causationId" | "redrives"> {
  const causationId = headers[RESERVED.causationId];
  return causationId === undefined ? {} : { causationId, redrives: redrivesOf(headers) };
}

/** How often a message has been redriven. */
export function redrivesOf(headers: MessageHeaders): number {
  const redrives = Number(headers[RESERVED.redrives]);
  return Number.isSafeInteger(redrives) ? Math.max(0, redrives) : 0;
}
