import { type OutboxRecord, type OutboxStatus, packEnvelope, unpackEnvelope } from "@bridge/ports";
import { byteas, float8s, int4s, texts, uuids } from "./arrays.ts";
import type { Lane } from "./lanes.ts";
import { shortHash } from "./names.ts";
import { storedText, textOf } from "./stored-text.ts";

/** The statuses by their number in the tables. */
export const STATUSES = ["pending", "done", "dead"] as const satisfies readonly OutboxStatus[];

/** A new record, and where it belongs. */
export interface Addition {
  readonly record: OutboxRecord;
  readonly lane: Lane;
  readonly identity: Buffer;
}

/** What `outbox_persist_in_lanes` has confirmed: the lanes, and which have keys. */
export function laneValues(keyed: ReadonlyMap<Lane, boolean>): readonly Buffer[] {
  const lanes = [...keyed.keys()];
  return [
    int4s(lanes.map(({ lane }) => lane)),
    uuids(lanes.map(({ place }) => place)),
    int4s(lanes.filter((lane) => keyed.get(lane)).map(({ lane }) => lane)),
  ];
}

/** Arrays of the values of records, in the order of the arguments of `outbox_persist`. */
export function recordValues(additions: readonly Addition[]): readonly Buffer[] {
  const records = additions.map(({ record }) => record);
  return [
    int4s(additions.map(({ lane }) => lane.lane)),
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
  "q.number, q.id, r.digest, q.created_at, q.entry_id, q.ordering_key, q.address, q.envelope, q.received, q.payload, q.received_payload";

export function recordOf(row: StoredRow, routeId: string, bindingId: string): OutboxRecord {
  const { payload } = row;
  return {
    id: textOf(row.id),
    routeId,
    bindingId,
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
