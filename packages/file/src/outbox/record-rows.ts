import { type OutboxRecord, type OutboxStatus } from "@bridge/ports";
import { packEnvelope, recordIdentity, recordSeal, unpackEnvelope } from "@bridge/ports/internal";

/** The statuses by their number in the file. */
export const STATUSES = ["pending", "done", "dead"] as const satisfies readonly OutboxStatus[];

/** A row of `record` and its row of `content`. */
export interface StoredRow {
  readonly number: number;
  readonly id: string;
  readonly payload_digest: string;
  readonly ordering_key: string | null;
  readonly entry_id: string | null;
  readonly created_at: number;
  readonly address: string;
  readonly envelope: string;
  /** `null` when it is the envelope. */
  readonly received: string | null;
  /** `null` when there are no bytes in its place. */
  readonly payload: Uint8Array | null;
  /** `null` when it is the payload. */
  readonly received_payload: Uint8Array | null;
  /** Of all the rest; `null` as the payload. */
  readonly seal: Uint8Array | null;
}

export type RecordValues = [
  number: number,
  lane: number,
  id: string,
  identity: string,
  payloadDigest: string,
  orderingKey: string | null,
  entryId: string | null,
  createdAt: number,
];

export type ContentValues = [
  number: number,
  lane: number,
  address: string,
  envelope: string,
  received: string | null,
  payload: Uint8Array,
  receivedPayload: Uint8Array | null,
  seal: Uint8Array,
];

export function recordValues(number: number, lane: number, record: OutboxRecord): RecordValues {
  const { id, payloadDigest, orderingKey, entryId, createdAt } = record;
  return [number, lane, id, recordIdentity(record), payloadDigest, orderingKey ?? null, entryId ?? null, createdAt];
}

export function contentValues(number: number, lane: number, record: OutboxRecord): ContentValues {
  const { address, envelope, received } = record;
  const packed = received === undefined ? null : packEnvelope(received);
  const receivedPayload = received === undefined || received.payload === envelope.payload ? null : received.payload;
  const envelopeText = packEnvelope(envelope);
  const seal = recordSeal(record, {
    envelope: envelopeText,
    received: packed,
    payload: envelope.payload,
    receivedPayload,
  });
  return [number, lane, address, envelopeText, packed, envelope.payload, receivedPayload, seal];
}

/** The record of a row; `undefined` when it is not the one that was written: a disk has changed it. */
export function recordOf(row: StoredRow, routeId: string, bindingId: string): OutboxRecord | undefined {
  const { envelope, received, payload, received_payload: receivedPayload, seal } = row;
  if (payload === null || seal === null) return undefined;
  try {
    const record = recordIn({ ...row, payload }, routeId, bindingId);
    const isSame = recordSeal(record, { envelope, received, payload, receivedPayload }).equals(seal);
    return isSame ? record : undefined;
  } catch {
    return undefined;
  }
}

function recordIn(row: StoredRow & { readonly payload: Uint8Array }, routeId: string, bindingId: string): OutboxRecord {
  return {
    id: row.id,
    routeId,
    bindingId,
    address: row.address,
    envelope: unpackEnvelope(row.envelope, row.payload),
    ...(row.received !== null && { received: unpackEnvelope(row.received, row.received_payload ?? row.payload) }),
    payloadDigest: row.payload_digest,
    ...(row.entry_id !== null && { entryId: row.entry_id }),
    ...(row.ordering_key !== null && { orderingKey: row.ordering_key }),
    createdAt: row.created_at,
  };
}
