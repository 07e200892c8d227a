import { type BlockedKey, type OutboxBacklog, type OutboxFilter, type OutboxHead, type Page } from "@bridge/ports";
import { unpackEnvelope } from "@bridge/ports/internal";
import { free } from "./claim-functions.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { storedText, textOf } from "./stored-text.ts";

/** A place is counted up to here; beyond, its depth is a lower bound. */
const COUNTED = 100_000;
/** Of so many of the oldest records of a place it is looked whether they block their keys. */
const HEADS = 10_000;
const NOTHING = new Uint8Array();

/** The time, and each place that has unfinished records with its oldest: one step in the index for each. */
export function places(table: (name: string) => string): string {
  const oldest = (where: string) => `
    SELECT q.place, q.route_id, q.binding_id, q.created_at
      FROM ${table("outbox_queue")} AS q ${where} ORDER BY q.place, q.number LIMIT 1`;
  return `
    WITH RECURSIVE clock AS MATERIALIZED (
      SELECT ${table("outbox_now")}() AS time
    ), place AS (
      (${oldest("")})
       UNION ALL
      SELECT n.* FROM place AS p CROSS JOIN LATERAL (${oldest("WHERE q.place > p.place")}) AS n
    )`;
}

interface BacklogRow {
  readonly route_id: string;
  readonly binding_id: string;
  readonly depth: number;
  readonly created_at: number;
  readonly blocked: number;
}

/** One line for each place that has unfinished records. */
export async function backlog({ client }: OutboxParts, signal: AbortSignal): Promise<readonly OutboxBacklog[]> {
  const table = (name: string) => client.table(name);
  const queue = table("outbox_queue");
  const { rows } = await client.query<BacklogRow>(
    {
      what: "counting the outbox",
      text: `${places(table)}
        SELECT p.route_id, p.binding_id, d.depth, p.created_at, b.blocked
          FROM place AS p
         CROSS JOIN clock AS c
         CROSS JOIN LATERAL (
           SELECT count(*) AS depth FROM (SELECT FROM ${queue} AS q WHERE q.place = p.place LIMIT ${COUNTED}) AS q
         ) AS d
         ${keyed(queue)}
         CROSS JOIN LATERAL (
           SELECT count(*) AS blocked FROM (${blockedHeads(queue)}) AS h
         ) AS b`,
    },
    signal,
  );
  return rows.map(({ route_id, binding_id, depth, created_at, blocked }) => ({
    routeId: textOf(route_id),
    bindingId: textOf(binding_id),
    depth,
    oldestCreatedAt: timeOf(created_at),
    blockedKeys: blocked,
  }));
}

interface BlockedRow {
  readonly route_id: string;
  readonly binding_id: string;
  readonly ordering_key: string;
  readonly depth: number;
  readonly id: string;
  readonly attempts: number;
  readonly wait: number;
  readonly created_at: number;
}

/** In the order of their oldest records; those of as many records of each place as {@link backlog} looks at. */
export async function blockedKeys(
  { client, clock }: OutboxParts,
  { routeId, bindingId }: OutboxFilter,
  limit: number,
  signal: AbortSignal,
): Promise<readonly BlockedKey[]> {
  const table = (name: string) => client.table(name);
  const queue = table("outbox_queue");
  const { rows } = await client.query<BlockedRow>(
    {
      what: "looking for blocked keys",
      text: `${places(table)}
        SELECT b.route_id, b.binding_id, b.ordering_key, d.depth, b.id, b.attempts, b.wait, b.created_at
          FROM (
            SELECT h.*
              FROM place AS p
             CROSS JOIN clock AS c
             ${keyed(queue)}
             CROSS JOIN LATERAL (
               ${blockedHeads(queue)}
             ) AS h
             WHERE ($1::text IS NULL OR p.route_id = $1) AND ($2::text IS NULL OR p.binding_id = $2)
             ORDER BY h.number LIMIT $3::int8
          ) AS b
         CROSS JOIN LATERAL (
           SELECT count(*) AS depth
             FROM (SELECT FROM ${queue} AS o WHERE o.place = b.place AND o.key_hash = b.key_hash LIMIT ${COUNTED}) AS o
         ) AS d
         ORDER BY b.number`,
      values: [stored(routeId), stored(bindingId), limit],
    },
    signal,
  );
  const now = clock.now();
  return rows.map((row) => ({
    routeId: textOf(row.route_id),
    bindingId: textOf(row.binding_id),
    orderingKey: textOf(row.ordering_key),
    depth: row.depth,
    oldestId: textOf(row.id),
    attempts: row.attempts,
    dueAt: Math.round(now + row.wait),
    oldestCreatedAt: timeOf(row.created_at),
  }));
}

/** Whether a place has records with ordering keys, so that none is looked for where there are none. */
function keyed(queue: string): string {
  return `
    CROSS JOIN LATERAL (
      SELECT EXISTS (SELECT FROM ${queue} AS q WHERE q.place = p.place AND q.key_hash IS NOT NULL) AS keyed
    ) AS k`;
}

/** Of place `p` at time `c`, if it is {@link keyed}: records that wait for a retry, and before which none of their key is. */
function blockedHeads(queue: string): string {
  return `
    SELECT q.place, q.number, q.key_hash, q.route_id, q.binding_id, q.ordering_key, q.id, q.attempts, q.created_at,
           extract(epoch FROM q.held_until - c.time)::float8 * 1000 AS wait
      FROM (
        SELECT * FROM ${queue} AS q
         WHERE k.keyed AND q.place = p.place AND q.key_hash IS NOT NULL ORDER BY q.number LIMIT ${HEADS}
      ) AS q
     WHERE q.token IS NULL AND NOT ${free("q", "c.time")}
       AND NOT EXISTS (
         SELECT FROM ${queue} AS o WHERE o.place = q.place AND o.key_hash = q.key_hash AND o.number < q.number
       )`;
}

interface HeadRow {
  readonly route_id: string;
  readonly binding_id: string;
  readonly id: string;
  readonly envelope: string;
  readonly address: string;
  readonly ordering_key: string | null;
  readonly created_at: number;
  readonly attempts: number;
  readonly lent: boolean;
  readonly wait: number | null;
}

/** Oldest first; of each place no more is read than the page may have of it. */
export async function list(
  { client, clock }: OutboxParts,
  { routeId, bindingId }: OutboxFilter,
  { limit, offset }: Page,
  signal: AbortSignal,
): Promise<readonly OutboxHead[]> {
  if (limit <= 0) return [];
  const table = (name: string) => client.table(name);
  const { rows } = await client.query<HeadRow>(
    {
      what: "listing the outbox",
      text: `${places(table)}
        SELECT q.route_id, q.binding_id, q.id, q.envelope, q.address, q.ordering_key, q.created_at, q.attempts,
               q.token IS NOT NULL AND NOT ${free("q", "c.time")} AS lent,
               CASE WHEN q.token IS NULL AND NOT ${free("q", "c.time")}
                 THEN extract(epoch FROM q.held_until - c.time)::float8 * 1000 END AS wait
          FROM place AS p
         CROSS JOIN clock AS c
         CROSS JOIN LATERAL (
           SELECT * FROM ${table("outbox_queue")} AS q WHERE q.place = p.place ORDER BY q.number LIMIT $3::int8
         ) AS q
         WHERE ($1::text IS NULL OR p.route_id = $1) AND ($2::text IS NULL OR p.binding_id = $2)
         ORDER BY q.number OFFSET $4::int8 LIMIT $5::int8`,
      values: [stored(routeId), stored(bindingId), offset + limit, offset, limit],
    },
    signal,
  );
  const now = clock.now();
  return rows.map((row) => headOf(row, now));
}

function headOf(row: HeadRow, now: number): OutboxHead {
  const createdAt = timeOf(row.created_at);
  return {
    id: textOf(row.id),
    routeId: textOf(row.route_id),
    bindingId: textOf(row.binding_id),
    ...aboutOf(row.envelope),
    address: textOf(row.address),
    ...(row.ordering_key !== null && { orderingKey: textOf(row.ordering_key) }),
    createdAt,
    dueAt: row.wait === null ? Math.min(createdAt, now) : Math.round(now + row.wait),
    attempts: row.attempts,
    lent: row.lent,
  };
}

/** Empty of a record that cannot be read. */
function aboutOf(envelope: string): Pick<OutboxHead, "envelopeId" | "subject"> {
  try {
    const { id, subject } = unpackEnvelope(envelope, NOTHING);
    return { envelopeId: id, subject };
  } catch {
    return { envelopeId: "", subject: "" };
  }
}

/** Somebody may have put there what is no time: the column holds any number, and none. */
function timeOf(createdAt: number): number {
  return Number.isFinite(createdAt) ? createdAt : 0;
}

function stored(text: string | undefined): string | null {
  return text === undefined ? null : storedText(text);
}
