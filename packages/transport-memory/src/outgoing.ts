import {
  carriedHeaders,
  type Envelope,
  isReserved,
  type MessageHeaders,
  RESERVED,
  type SourceMessage,
} from "@bridge/ports";

/** An envelope as it lies in a channel: what the reserved headers say becomes fields, and they stay behind. */
export function outgoing(envelope: Envelope): SourceMessage {
  const { headers } = envelope;
  return {
    id: envelope.id,
    subject: envelope.subject,
    payload: envelope.payload,
    headers: carried(headers),
    contentType: envelope.contentType,
    correlationId: envelope.correlationId,
    dedupId: headers[RESERVED.dedupId],
    orderingKey: headers[RESERVED.orderingKey],
    expiresAt: envelope.expiresAt,
  };
}

/** The same object when nothing has to stay behind, which is the usual case: a message need not cost a copy. */
function carried(headers: MessageHeaders): MessageHeaders {
  for (const name in headers) if (isReserved(name)) return Object.fromEntries(carriedHeaders(headers));
  return headers;
}
