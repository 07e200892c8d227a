import {
  carriedHeaders,
  type Envelope,
  isReserved,
  type MessageHeaders,
  RESERVED,
  type SourceMessage,
} from "@bridge/ports";
import { ownBytes } from "@bridge/ports/internal";

/**
 * An envelope as it lies in a channel: what the reserved headers say becomes fields, and they stay behind. Bytes that are part of
 * a larger buffer, such as what was read from a socket at once, are copied, or all of that would lie there.
 */
export function outgoing(envelope: Envelope): SourceMessage {
  const { headers, payload } = envelope;
  return {
    id: envelope.id,
    subject: envelope.subject,
    payload: payload.length === payload.buffer.byteLength ? payload : ownBytes(payload),
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
