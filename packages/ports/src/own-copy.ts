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

/**
 * A copy in memory of its own. `Buffer.from` takes small ones from a pool, 64 KiB of which stay as long as any piece of them
 * is kept.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}

function withOwnPayload(envelope: Envelope): Envelope {
  return { ...envelope, payload: ownBytes(envelope.payload) };
}
