import type {
  Clock,
  DeadLetterOrder,
  DeadLetterPage,
  DeadLetterPosition,
  DeadLetterQuery,
  KeyedPage,
} from "@bridge/ports";
import { PageOfHeads, Slices } from "@bridge/ports/internal";
import type { PostgresClient } from "../client/postgres-client.ts";
import { HEAD_COLUMNS, headOf, type HeadRow, isPossibleQuery } from "./dead-letter-row.ts";
import { ENTRIES } from "./dlq-tables.ts";
import { filtered, timeOf } from "./filtered.ts";

/** Heads of one statement: some hundred kilobytes. */
const CHUNK = 1_000;

export interface Paging {
  readonly client: PostgresClient;
  readonly clock: Clock;
  /** Entries that failed before are not there. */
  readonly visibleFrom: () => number;
}

/** A page by key. What the query asks for beyond the indexes is looked at while reading along. */
export async function pageOf(
  query: DeadLetterQuery,
  { limit, order, after, budget }: KeyedPage,
  paging: Paging,
  signal: AbortSignal,
): Promise<DeadLetterPage> {
  signal.throwIfAborted();
  const page = new PageOfHeads(query, { limit, budget });
  const slices = new Slices(paging.clock);
  let from = after;
  for (;;) {
    const size = Math.min(CHUNK, page.wanted, isIndexed(query) ? page.room + 1 : CHUNK);
    const rows = await rowsOf(query, { order, after: from, limit: size }, paging, signal);
    for (const row of rows) {
      from = positionOf(row, order);
      if (page.add(headOf(row), from)) return page.page;
      if (slices.over) await slices.next();
    }
    if (rows.length < size) return page.page;
  }
}

/** The rows behind `after`, in their order; of what the query asks for, as far as indexes tell. */
export async function rowsOf(
  query: DeadLetterQuery,
  { order, after, limit }: Omit<KeyedPage, "budget">,
  { client, visibleFrom }: Paging,
  signal: AbortSignal,
): Promise<readonly HeadRow[]> {
  if (!isPossibleQuery(query)) return [];
  const { condition, values } = filtered(query, visibleFrom());
  const [beyond, direction] = order === "oldest" ? [">", "ASC"] : ["<", "DESC"];
  const [limited, time, id] = [1, 2, 3].map((n) => `$${values.length + n}`);
  const behind = after === undefined ? "" : ` AND (failed_at, id) ${beyond} (${time}, ${id})`;
  const text = `SELECT ${HEAD_COLUMNS} FROM ${client.table(ENTRIES)} WHERE ${condition}${behind}
    ORDER BY failed_at ${direction}, id ${direction} LIMIT ${limited}`;
  // No id holds U+0000, but whoever made up a place may have.
  const place = after === undefined ? [] : [timeOf(after.failedAt), after.id.replaceAll("\u0000", "")];
  const statement = { what: "reading a page of dead letters", text, values: [...values, limit, ...place] };
  return (await client.query<HeadRow>(statement, signal)).rows;
}

/**
 * Behind this row. Somebody may have given it a time that no number holds exactly: then the next one that does, so that no page
 * comes again.
 */
export function positionOf({ failed_at: time, id }: HeadRow, order: DeadLetterOrder): DeadLetterPosition {
  if (Number.isSafeInteger(time)) return { failedAt: time, id };
  const next = 2 * Number.EPSILON * Math.abs(time);
  return { failedAt: order === "oldest" ? time + next : time - next, id };
}

function isIndexed({ bindingId, errorCode, subjectPrefix, assignee, quarantined, jobId }: DeadLetterQuery): boolean {
  return [bindingId, errorCode, subjectPrefix, assignee, quarantined, jobId].every((field) => field === undefined);
}
