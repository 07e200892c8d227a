import { type Envelope, RESERVED, type SourceMessage } from "@bridge/ports";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function bytesOf(text: string): Uint8Array {
  return encoder.encode(text);
}

export function textOf(message: SourceMessage): string {
  return decoder.decode(message.payload);
}

/** The envelope that the engine makes of a message: what has no field of its own becomes a reserved header. */
export function envelopeOf(message: SourceMessage): Envelope {
  const id = message.id ?? crypto.randomUUID();
  return {
    id,
    sourceId: "conformance",
    subject: message.subject,
    contentType: message.contentType ?? "",
    headers: {
      ...message.headers,
      ...(message.dedupId !== undefined && { [RESERVED.dedupId]: message.dedupId }),
      ...(message.orderingKey !== undefined && { [RESERVED.orderingKey]: message.orderingKey }),
    },
    payload: message.payload,
    correlationId: message.correlationId ?? id,
    receivedAt: Date.now(),
    ...(message.expiresAt !== undefined && { expiresAt: message.expiresAt }),
  };
}
