import { type OutboxRecord, type OutboxStatus } from "@bridge/ports";
import { packEnvelope, unpackEnvelope } from "@bridge/ports/internal";
import { byteas, float8s, int4s, texts, uuids } from "./arrays.ts";
import { shortHash } from "./names.ts";
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
export const RECORD_TYPES = "uuid text text int4 text uuid text float8 text uuid text text text text bytea bytea".split(
  " ",
);

/** Arrays of what records have, in the order of the arguments of `outbox_persist`: first their places, each once. */
export function recordValues(additions: readonly Addition[]): readonly Buffer[] {
  const at = new Map<Place, number>();
  for (const { place } of additions) if (!at.has(place)) at.set(place, at.size + 1);
  const places = [...at.keys()];
  const records = additions.map(({ record }) => record);
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
    texts(records.map(({ envelope }) => packEnvelope(envelope))),
    texts(records.map(({ received }) => received && packEnvelope(received))),
    byteas(records.map(({ envelope }) => envelope.payload)),
    byteas(
      records.map(({ envelope, received }) => (received?.payload === envelope.payload ? undefined : received?.payload)),
    ),
  ];
}

/** A row of the queue with what its record has. */
export interface StoredRow {
  readonly number: number;
  readonly id: string;
  readonly route_id: string;
  readonly binding_id: string;
  readonly digest: string;
  readonly created_at: number;
  readonly entry_id: string | null;
  readonly ordering_key: string | null;
  readonly address: string;
  readonly envelope: string;
  readonly received: string | null;
  readonly payload: Buffer;
  readonly received_payload: Buffer | null;
}

export const CONTENT_COLUMNS =
  "q.number, q.id, q.route_id, q.binding_id, r.digest, q.created_at, q.entry_id, q.ordering_key, q.address, q.envelope, q.received, q.payload, q.received_payload";

export function recordOf(row: StoredRow): OutboxRecord {
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

function optional(text: string | undefined): string | undefined {
  return text === undefined ? undefined : storedText(text);
}
