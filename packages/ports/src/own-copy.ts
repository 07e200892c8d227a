import type { Envelope } from "./envelope.ts";
import type { OutboxRecord } from "./outbox-store.ts";

/** Bytes that the payloads of a record take. */
export function payloadBytes({ envelope, received }: OutboxRecord): number {
  const more = received === undefined || received.payload === envelope.payload ? 0 : received.payload.length;
  return envelope.payload.length + more;
}

/**
 * The same record with bytes of its own, for stores that keep it in memory for a while: those of a source may change, and
 * are often part of a larger buffer.
 */
export function ownCopy(record: OutboxRecord): OutboxRecord {
  const { envelope, received } = record;
  const copy = withOwnPayload(envelope);
  if (received === undefined) return { ...record, envelope: copy };
  const same = received.payload === envelope.payload;
  return {
    ...record,
    envelope: copy,
    received: same ? { ...received, payload: copy.payload } : withOwnPayload(received),
  };
}

function withOwnPayload(envelope: Envelope): Envelope {
  // Small ones share a buffer, which costs a fraction of one for each.
  return { ...envelope, payload: Buffer.from(envelope.payload) };
}
