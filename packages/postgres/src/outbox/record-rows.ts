import { type OutboxRecord, type OutboxStatus } from "@bridge/ports";
import { packEnvelope, type PackedContent, recordSeal, unpackEnvelope } from "@bridge/ports/internal";
import { byteas, float8s, int4s, texts, uuids } from "./arrays.ts";
import { placeBytes, placeHash, shortHash } from "./names.ts";
import type { Place } from "./places.ts";
import { storedText, textOf } from "./stored-text.ts";

/** The statuses by their number in the tables. */
export const STATUSES = ["pending", "done", "dead"] as const satisfies readonly OutboxStatus[];

/** A new record, and where it belongs. */
export interface Addition {
  readonly record: OutboxRecord;
  readonly place: Place;
  readonly identity: Buffer;
  /** The identity, as a text. */
  readonly name: string;
}

/** The types of {@link recordValues}, as the server names them. */
export const RECORD_TYPES =
  "uuid text text int4 text uuid text float8 text uuid text text text text bytea bytea bytea".split(" ");

/** Arrays of what records have, in the order of the arguments of `outbox_persist`: first their places, each once. */
export function recordValues(additions: readonly Addition[]): readonly Buffer[] {
  const at = new Map<Place, number>();
  for (const { place } of additions) if (!at.has(place)) at.set(place, at.size + 1);
  const places = [...at.keys()];
  const records = additions.map(({ record }) => record);
  const contents = records.map(contentOf);
  return [
    uuids(places.map(({ hash }) => hash)),
    texts(places.map(({ routeId }) => routeId)),
    texts(places.map(({ bindingId }) => bindingId)),
    int4s(additions.map(({ place }) => at.get(place) ?? 0)),
    texts(records.map(({ id }) => storedText(id))),
    uuids(additions.map(({ identity }) => identity)),
    texts(records.map(({ payloadDigest }) => storedText(payloadDigest))),
    float8s(records.map(({ createdAt }) => createdAt)),
    texts(records.map(({ orderingKey }) => optional(orderingKey))),
    uuids(records.map(({ orderingKey }) => (orderingKey === undefined ? undefined : shortHash(orderingKey)))),
    texts(records.map(({ entryId }) => optional(entryId))),
    texts(records.map(({ address }) => storedText(address))),
    texts(contents.map(({ envelope }) => envelope)),
    texts(contents.map(({ received }) => received ?? undefined)),
    byteas(contents.map(({ payload }) => payload)),
    byteas(contents.map(({ receivedPayload }) => receivedPayload ?? undefined)),
    byteas(contents.map((content, i) => sealOf(records[i] as OutboxRecord, content))),
  ];
}

/** A row of the queue with what its record has. */
export interface StoredRow {
  /** As the server writes it. */
  readonly place: string;
  readonly number: number;
  readonly id: string;
  readonly route_id: string;
  readonly binding_id: string;
  /** Empty when somebody else has deleted the evidence. */
  readonly digest: string;
  readonly created_at: number;
  readonly entry_id: string | null;
  readonly ordering_key: string | null;
  readonly address: string;
  readonly envelope: string;
  readonly received: string | null;
  readonly payload: Buffer;
  readonly received_payload: Buffer | null;
  readonly seal: Buffer;
}

export const CONTENT_COLUMNS =
  "q.place, q.number, q.id, q.route_id, q.binding_id, coalesce(r.digest, '') AS digest, q.created_at, q.entry_id, q.ordering_key, q.address, q.envelope, q.received, q.payload, q.received_payload, q.seal";

/** `undefined` when it is not the record that was written, or not in its place. */
export function recordOf(row: StoredRow): OutboxRecord | undefined {
  const { envelope, received, payload, received_payload: receivedPayload, seal } = row;
  try {
    const record = recordIn(row);
    const isSame =
      sealOf(record, { envelope, received, payload, receivedPayload }).equals(seal) &&
      placeHash(record).equals(placeBytes(row.place));
    return isSame ? record : undefined;
  } catch {
    return undefined;
  }
}

function recordIn(row: StoredRow): OutboxRecord {
  const { payload } = row;
  return {
    id: textOf(row.id),
    routeId: textOf(row.route_id),
    bindingId: textOf(row.binding_id),
    address: textOf(row.address),
    envelope: unpackEnvelope(row.envelope, payload),
    ...(row.received !== null && { received: unpackEnvelope(row.received, row.received_payload ?? payload) }),
    payloadDigest: textOf(row.digest),
    ...(row.entry_id !== null && { entryId: textOf(row.entry_id) }),
    ...(row.ordering_key !== null && { orderingKey: textOf(row.ordering_key) }),
    createdAt: row.created_at,
  };
}

function contentOf({ envelope, received }: OutboxRecord): PackedContent {
  return {
    envelope: packEnvelope(envelope),
    received: received === undefined ? null : packEnvelope(received),
    payload: envelope.payload,
    receivedPayload: received === undefined || received.payload === envelope.payload ? null : received.payload,
  };
}

/** Without the digest of the evidence, which somebody may have deleted: the record is delivered all the same. */
function sealOf(record: OutboxRecord, content: PackedContent): Buffer {
  return recordSeal({ ...record, payloadDigest: "" }, content);
}

function optional(text: string | undefined): string | undefined {
  return text === undefined ? undefined : storedText(text);
}
