import { type OutboxBacklog, type OutboxFilter, type OutboxHead, type Page, unpackEnvelope } from "@bridge/ports";
import { over } from "./claim-functions.ts";
import type { OutboxParts } from "./outbox-parts.ts";
import { storedText, textOf } from "./stored-text.ts";

/** A lane is counted up to here; beyond, its depth is a lower bound. */
const COUNTED = 100_000;
/** Of so many of the oldest records of a lane it is looked whether they block their keys. */
const HEADS = 10_000;
const NOTHING = new Uint8Array();

/** What the queries here call the arguments that the functions have. */
function clocks(text: string): string {
  return text
    .replaceAll("p_instances", "$1::text[]")
    .replaceAll("p_readings", "($2::float8[])")
    .replaceAll("p_instance", "$3::text")
    .replaceAll("p_now", "$4::float8");
}

function clockValues({ instances, clock }: OutboxParts): readonly unknown[] {
  const { names, readings } = instances.readings();
  return [names, readings, instances.name, clock.now()];
}

interface BacklogRow {
  readonly route_id: string;
  readonly binding_id: string;
  readonly depth: number;
  readonly created_at: number;
  readonly blocked: number;
}

/** One line for each lane that has unfinished records. */
export async function backlog(parts: OutboxParts, signal: AbortSignal): Promise<readonly OutboxBacklog[]> {
  const { client } = parts;
  const queue = client.table("outbox_queue");
  const { rows } = await client.query<BacklogRow>(
    {
      what: "counting the outbox",
      text: `
        SELECT l.route_id, l.binding_id, d.depth, o.created_at, b.blocked
          FROM ${client.table("outbox_lane")} AS l
         CROSS JOIN LATERAL (SELECT q.created_at FROM ${queue} AS q WHERE q.lane = l.lane ORDER BY q.number LIMIT 1) AS o
         CROSS JOIN LATERAL (
           SELECT count(*) AS depth FROM (SELECT FROM ${queue} AS q WHERE q.lane = l.lane LIMIT ${COUNTED}) AS c
         ) AS d
         CROSS JOIN LATERAL (
           SELECT count(*) AS blocked
             FROM (
               SELECT * FROM ${queue} AS q
                WHERE l.keyed AND q.lane = l.lane AND q.key_hash IS NOT NULL ORDER BY q.number LIMIT ${HEADS}
             ) AS q
            WHERE q.token IS NULL AND NOT ${clocks(over("q"))}
              AND NOT EXISTS (
                SELECT FROM ${queue} AS o WHERE o.lane = q.lane AND o.key_hash = q.key_hash AND o.number < q.number
              )
         ) AS b`,
      values: clockValues(parts),
    },
    signal,
  );
  return rows.map(({ route_id, binding_id, depth, created_at, blocked }) => ({
    routeId: textOf(route_id),
    bindingId: textOf(binding_id),
    depth,
    oldestCreatedAt: created_at,
    blockedKeys: blocked,
  }));
}

interface HeadRow {
  readonly route_id: string;
  readonly binding_id: string;
  readonly id: string;
  readonly envelope: string;
  readonly address: string;
  readonly ordering_key: string | null;
  readonly created_at: number;
  readonly due_at: number | null;
  readonly attempts: number;
  readonly lent: boolean;
  readonly wait: number | null;
}

/** Oldest first; of each lane no more is read than the page may have of it. */
export async function list(
  parts: OutboxParts,
  { routeId, bindingId }: OutboxFilter,
  { limit, offset }: Page,
  signal: AbortSignal,
): Promise<readonly OutboxHead[]> {
  const { client, clock } = parts;
  if (limit <= 0) return [];
  const { rows } = await client.query<HeadRow>(
    {
      what: "listing the outbox",
      text: `
        SELECT l.route_id, l.binding_id, q.id, q.envelope, q.address, q.ordering_key, q.created_at, q.due_at, q.attempts,
               q.token IS NOT NULL AND NOT ${clocks(over("q"))} AS lent,
               CASE WHEN q.token IS NULL AND NOT ${clocks(over("q"))}
                 THEN q.held_until - ${clocks("p_readings[array_position(p_instances, q.held_by)]")} END AS wait
          FROM ${client.table("outbox_lane")} AS l
         CROSS JOIN LATERAL (
           SELECT * FROM ${client.table("outbox_queue")} AS q WHERE q.lane = l.lane ORDER BY q.number LIMIT $7::int8
         ) AS q
         WHERE ($5::text IS NULL OR l.route_id = $5) AND ($6::text IS NULL OR l.binding_id = $6)
         ORDER BY q.number OFFSET $8::int8 LIMIT $9::int8`,
      values: [...clockValues(parts), stored(routeId), stored(bindingId), offset + limit, offset, limit],
    },
    signal,
  );
  const now = clock.now();
  return rows.map((row) => headOf(row, now));
}

function headOf(row: HeadRow, now: number): OutboxHead {
  const { id: envelopeId, subject } = unpackEnvelope(row.envelope, NOTHING);
  return {
    id: textOf(row.id),
    routeId: textOf(row.route_id),
    bindingId: textOf(row.binding_id),
    envelopeId,
    subject,
    address: textOf(row.address),
    ...(row.ordering_key !== null && { orderingKey: textOf(row.ordering_key) }),
    createdAt: row.created_at,
    dueAt: row.wait === null ? Math.min(row.due_at ?? row.created_at, now) : Math.round(now + row.wait),
    attempts: row.attempts,
    lent: row.lent,
  };
}

function stored(text: string | undefined): string | null {
  return text === undefined ? null : storedText(text);
}
