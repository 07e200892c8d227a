import type { DeadLetterQuery, FacetGroup, FacetKey, Facets, FacetsRequest } from "@bridge/ports";
import { histogramOf, histogramStep } from "@bridge/ports/internal";
import type { PostgresClient } from "../client/postgres-client.ts";
import { HEAD_COLUMNS, headOf, type HeadRow } from "./dead-letter-row.ts";
import { ENTRIES } from "./dlq-tables.ts";
import { type Filtered, filtered } from "./filtered.ts";
import { IS_KEPT_BACK } from "./kept-back.ts";

type Counted = Exclude<FacetKey, "assignee">;

const GROUPED: Readonly<Record<Counted, string>> = {
  routeId: "route_id",
  bindingId: "binding_id",
  category: "category",
  errorCode: "error_code",
  fingerprint: "fingerprint",
};
/** Beyond it there is no date: somebody may have given a row such a time. */
const LATEST = 8_640_000_000_000_000;
const WHAT = "counting dead letters by groups";

interface GroupRow extends HeadRow {
  readonly count: number;
  readonly oldest: number;
  readonly newest: number;
  readonly groups: number;
  readonly total: number;
  readonly first: number;
  readonly last: number;
  readonly sample: string | null;
  readonly [key: `key_${number}`]: string;
}

/** Whether indexes have all that is asked for. */
export function isCounted({ query, by }: FacetsRequest): boolean {
  const { subjectPrefix, assignee, jobId } = query;
  return !by.includes("assignee") && [subjectPrefix, assignee, jobId].every((field) => field === undefined);
}

/** Counts all that match, in one statement, and a further one for the histogram. Gives up when either takes longer than a try. */
export async function countAll(
  { query, by, maxGroups, buckets }: FacetsRequest,
  client: PostgresClient,
  visibleFrom: number,
  signal: AbortSignal,
): Promise<Facets> {
  const entries = client.table(ENTRIES);
  const which = counted(query, visibleFrom, entries);
  const columns = by.map((name) => GROUPED[name as Counted]);
  const keys = columns.map((_, n) => `key_${n}`).join(", ");
  const text = `
    WITH grouped AS (
      SELECT ${columns.map((column, n) => `${column} AS key_${n}`).join(", ")}, count(*) AS count,
             min(${date("failed_at")}) AS oldest, max(${date("failed_at")}) AS newest, max(failed_at) AS latest
        FROM ${entries} WHERE ${which.condition} GROUP BY ${keys}
    ), whole AS (
      SELECT count(*) AS groups, sum(count)::bigint AS total, min(oldest) AS first, max(newest) AS last FROM grouped
    ), largest AS (
      SELECT * FROM grouped ORDER BY count DESC, ${keys} LIMIT $${which.values.length + 1}
    )
    SELECT largest.*, whole.*, sample.id AS sample, sample.* FROM whole CROSS JOIN largest LEFT JOIN LATERAL (
      SELECT ${HEAD_COLUMNS} FROM ${entries}
       WHERE ${which.condition} AND failed_at = latest AND ${columns.map((column, n) => `${column} = key_${n}`).join(" AND ")}
       LIMIT 1
    ) AS sample ON true ORDER BY count DESC, ${keys}`;
  const statement = { what: WHAT, text, values: [...which.values, maxGroups], mayBeLate: true };
  const { rows } = await client.query<GroupRow>(statement, signal);
  const [any] = rows;
  if (any === undefined) return { total: 0, exact: true, counted: 0, groups: [], moreGroups: false };
  const { total, groups, first, last } = any;
  return {
    total,
    exact: true,
    counted: total,
    oldestFailedAt: first,
    newestFailedAt: last,
    groups: rows.map((row) => groupOf(row, by)),
    moreGroups: groups > rows.length,
    ...(buckets > 0 && { histogram: await histogram(which, [first, last], buckets, client, signal) }),
  };
}

async function histogram(
  { condition, values }: Filtered,
  [oldest, newest]: readonly [number, number],
  buckets: number,
  client: PostgresClient,
  signal: AbortSignal,
) {
  const stepMs = histogramStep(oldest, newest, { buckets, resolutionMs: 1 });
  const step = `$${values.length + 1}::bigint`;
  const text = `SELECT ${date("failed_at")} / ${step} * ${step} AS time, count(*) AS count
    FROM ${client.table(ENTRIES)} WHERE ${condition} GROUP BY 1`;
  const statement = { what: WHAT, text, values: [...values, stepMs], mayBeLate: true };
  const { rows } = await client.query<{ time: number; count: number }>(statement, signal);
  const counts = rows.map(({ time, count }): [number, number] => [time, count]);
  return histogramOf(counts, { oldest, newest, stepMs });
}

function groupOf(row: GroupRow, by: readonly FacetKey[]): FacetGroup {
  const { count, oldest, newest, sample } = row;
  const key = Object.fromEntries(by.map((name, n) => [name, row[`key_${n}`] ?? ""]));
  const group = { key, count, oldestFailedAt: oldest, newestFailedAt: newest };
  return sample === null ? group : { ...group, sample: headOf(row) };
}

/** All that a query asks for which indexes have. */
function counted(query: DeadLetterQuery, visibleFrom: number, entries: string): Filtered {
  const { condition, values } = filtered(query, visibleFrom);
  const more = (["bindingId", "errorCode"] as const).filter((name) => query[name] !== undefined);
  const conditions = more.map((name, n) => `${GROUPED[name]} = $${values.length + n + 1}`);
  return {
    condition: [condition, ...conditions, ...keptBack(query, entries)].join(" AND "),
    values: [...values, ...more.map((name) => query[name])],
  };
}

/** What is not quarantined is all but what is: the marks of a row are in no index, and reading every row would take too long. */
function keptBack({ quarantined }: DeadLetterQuery, entries: string): readonly string[] {
  if (quarantined === undefined) return [];
  if (quarantined) return [IS_KEPT_BACK];
  // As a set, which the server hashes. As a join it went through all of them for each entry of a table that had just become large.
  return [`id NOT IN (SELECT id FROM ${entries} WHERE ${IS_KEPT_BACK})`];
}

function date(column: string): string {
  return `least(greatest(${column}, 0), ${LATEST})`;
}
