import type { Envelope, OutboxRecord } from "@bridge/ports";

/** 2026-01-01, so that times need more than 32 bits: when the suite's clock begins. */
export const EPOCH = 1_767_225_600_000;

const TEXT = new TextEncoder().encode("payload");

export type RecordFields = Partial<Omit<OutboxRecord, "envelope">> & { readonly envelope?: Partial<Envelope> };

export function record(id: string, { envelope, ...fields }: RecordFields = {}): OutboxRecord {
  return {
    id,
    routeId: "route",
    bindingId: "binding",
    address: "address",
    payloadDigest: "digest",
    createdAt: createdAt(0),
    ...fields,
    envelope: envelopeOf(`envelope-${id}`, envelope),
  };
}

export function envelopeOf(id: string, fields: Partial<Envelope> = {}): Envelope {
  return {
    id,
    sourceId: "source",
    subject: "subject",
    contentType: "text/plain",
    headers: { plain: "1" },
    payload: TEXT,
    correlationId: `correlation-${id}`,
    receivedAt: createdAt(0) - 1,
    ...fields,
  };
}

/** Records `r0000`, `r0001`, …, each a second younger than the one before. */
export function records(count: number, fields: (index: number) => RecordFields = () => ({})): readonly OutboxRecord[] {
  return Array.from({ length: count }, (_, i) => record(idAt(i), { createdAt: createdAt(i), ...fields(i) }));
}

/** The same message once more, as a source delivers it again: in a record of another id. */
export function again(original: OutboxRecord, fields: Partial<OutboxRecord> = {}): OutboxRecord {
  return { ...original, id: `${original.id}-again`, ...fields };
}

/** The id of the record with this index. */
export function idAt(index: number): string {
  return `r${String(index).padStart(4, "0")}`;
}

/** The ids of the records with these indices. */
export function idsAt<const I extends readonly number[]>(...indices: I): { readonly [K in keyof I]: string } {
  return indices.map(idAt) as { [K in keyof I]: string };
}

/** When the record with this index was made: before the suite's clock began. */
export function createdAt(index: number): number {
  return EPOCH - 10_000_000 + index * 1000;
}
