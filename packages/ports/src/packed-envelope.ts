import type { Envelope } from "./envelope.ts";

/** An envelope without its payload, in the order of its fields: names would be most of the text. */
type Packed = [
  id: string,
  sourceId: string,
  subject: string,
  contentType: string,
  headers: Record<string, string>,
  /** `null` for the id. */
  correlationId: string | null,
  receivedAt: number,
  expiresAt?: number,
];

/** JSON of everything but the payload, for stores that keep bytes in a place of their own. */
export function packEnvelope(envelope: Envelope): string {
  const { id, sourceId, subject, contentType, headers, correlationId, receivedAt, expiresAt } = envelope;
  const correlation = correlationId === id ? null : correlationId;
  const packed: Packed = [id, sourceId, subject, contentType, headers, correlation, receivedAt];
  if (expiresAt !== undefined) packed.push(expiresAt);
  return JSON.stringify(packed);
}

/** The id in a packed envelope, for logs; `undefined` when it cannot be read. */
export function envelopeIdIn(text: string): string | undefined {
  try {
    const [id] = JSON.parse(text) as Packed;
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}

export function unpackEnvelope(text: string, payload: Uint8Array): Envelope {
  const packed = JSON.parse(text) as Packed;
  const [id, sourceId, subject, contentType, headers, correlation, receivedAt, expiresAt] = packed;
  const correlationId = correlation ?? id;
  const envelope = { id, sourceId, subject, contentType, headers, payload, correlationId, receivedAt };
  return expiresAt === undefined ? envelope : { ...envelope, expiresAt };
}
