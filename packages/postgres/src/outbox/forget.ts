import type { PostgresClient } from "../client/postgres-client.ts";

const SLICE = 5_000;

interface Slice {
  readonly count: number;
  readonly last: number | null;
  readonly fresh: number;
  readonly forgotten: number;
}

/** Forgets records that were finished longer ago than `retentionMs`, the oldest numbers first, some at a time. */
export async function forget(client: PostgresClient, retentionMs: number, signal: AbortSignal): Promise<void> {
  const table = client.table("outbox_record");
  const text = `
    WITH old AS (SELECT ${client.table("outbox_now")}() - $2::float8 * interval '1 ms' AS before),
    slice AS MATERIALIZED (
      SELECT r.number, r.finished_at < o.before AS due, r.finished_at >= o.before AS fresh
        FROM (SELECT number, finished_at FROM ${table} WHERE number >= $1 ORDER BY number LIMIT ${SLICE}) AS r, old AS o
    ), forgotten AS (
      DELETE FROM ${table} WHERE number = ANY (ARRAY(SELECT number FROM slice WHERE due)) RETURNING 1
    )
    SELECT count(*), max(number) AS last, count(*) FILTER (WHERE fresh) AS fresh,
           (SELECT count(*) FROM forgotten) AS forgotten
      FROM slice`;
  for (let from = 0; ;) {
    const statement = { what: "forgetting records of the outbox", text, values: [from, retentionMs] };
    const { rows } = await client.query<Slice>(statement, signal);
    const [slice] = rows;
    // Numbers are finished about in their order: what comes after fresh ones is younger.
    if (slice === undefined || slice.count < SLICE || (slice.forgotten === 0 && slice.fresh > 0)) return;
    from = (slice.last ?? from) + 1;
  }
}
