/**
 * Dead letters as lines, in which they travel from one DLQ to another. @module
 */
import { type DeadLetter, deadLetterHead, type DeadLetterHead, RESERVED } from "@bridge/ports";
import { Base64Text } from "@bridge/ports/internal";
import type { ShownMessage } from "./redaction.ts";
import { entryHeadToWire, envelopeToWire } from "./wire.ts";

export const LINE_VERSION = 1;

/** Without what only callers with `payload.read` see. */
export function headLine(head: DeadLetterHead): object {
  return { v: LINE_VERSION, entry: entryHeadToWire(head) };
}

export function entryLine(entry: DeadLetter, { headers, payload, payloadSha256, redacted }: ShownMessage): object {
  const { envelope } = entry;
  const orderingKey = envelope.headers[RESERVED.orderingKey];
  return {
    ...headLine(deadLetterHead(entry)),
    envelope: {
      ...envelopeToWire(envelope, headers),
      // The header that holds it does not come in again.
      ...(orderingKey !== undefined && { ordering_key: orderingKey }),
    },
    ...(payload !== undefined && { payload: new Base64Text(payload) }),
    ...(payloadSha256 !== undefined && { payload_sha256: payloadSha256 }),
    ...(redacted && { redacted }),
  };
}

/** One that its store has, and cannot read. */
export function unreadableLine(head: DeadLetterHead, error: string): object {
  return { ...headLine(head), error };
}

/** The last one of an export that is whole; `warnings`: what an operator should know of what is not in it. */
export function endLine(
  { lines, sha256 }: { readonly lines: number; readonly sha256: string },
  warnings: readonly (string | undefined)[],
): object {
  const warning = warnings.filter((said) => said !== undefined).join("; ");
  return { v: LINE_VERSION, end: true, count: lines, sha256, ...(warning !== "" && { warning }) };
}
