import type { FileDatabase } from "@bridge/file/internal";
import type { Clock, DeadLetterPage, DeadLetterQuery, KeyedPage } from "@bridge/ports";
import { PageOfHeads, Slices } from "@bridge/ports/internal";
import { headOf, positionOf } from "./dead-letter-row.ts";
import type { DlqTables } from "./dlq-tables.ts";
import { indexRange } from "./entry-index.ts";

/** So many heads are read at a time, which takes a millisecond or two. */
const CHUNK = 200;

/** Reads along the index that fits the query best, in slices. */
export async function readPage(
  file: FileDatabase<DlqTables>,
  query: DeadLetterQuery,
  { order, after, ...bounds }: KeyedPage,
  clock: Clock,
  signal: AbortSignal,
): Promise<DeadLetterPage> {
  signal.throwIfAborted();
  const page = new PageOfHeads(query, bounds);
  const { exact } = indexRange(query);
  const slices = new Slices(clock);
  for (let from = after; ;) {
    const wanted = Math.min(CHUNK, page.wanted, exact ? page.room + 1 : CHUNK);
    const { rows, next } = file.read(({ entries }) => entries.heads(query, { order, after: from }, wanted));
    for (const row of rows) if (page.add(headOf(row), positionOf(row))) return page.page;
    if (next === undefined) return page.page;
    from = next;
    if (!slices.over) continue;
    await slices.next();
    signal.throwIfAborted();
  }
}
