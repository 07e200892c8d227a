import type { DeadLetterHead, DeadLetterPosition, DeadLetterQuery, DlqStore, KeyedPage } from "@bridge/ports";
import type { InferOutput } from "valibot";
import { cursorToWire, type DlqCursor, REVERSE } from "./dlq-cursor.ts";
import { LIMITS } from "./limits.ts";
import type { entryPage } from "./schemas.ts";
import { entryHeadToWire } from "./wire.ts";

/** A part of a list, in the order of the list. */
export interface DlqPage {
  readonly entries: readonly DeadLetterHead[];
  readonly next?: DlqCursor | undefined;
  readonly prev?: DlqCursor | undefined;
  readonly scanned?: number | undefined;
}

/** Reads a page by key, either way. `budget` bounds how many entries are looked at. */
export async function pageAt(
  store: Pick<Required<DlqStore>, "page">,
  query: DeadLetterQuery,
  { order, back, after }: DlqCursor,
  limit: number,
  signal: AbortSignal,
): Promise<DlqPage> {
  const page: KeyedPage = { limit, order: back ? REVERSE[order] : order, after, budget: LIMITS.pageScan };
  const found = await store.page(query, page, signal);
  const onward = found.next && { order, back, after: found.next };
  // Nothing that matches lies between the place where this page began and the first entry, or, without one, its end.
  const around = after && { order, back: !back, after: placeOf(found.entries[0]) ?? found.next };
  const entries = back ? found.entries.toReversed() : found.entries;
  const [next, prev] = back ? [around, onward] : [onward, around];
  return { entries, next, prev, scanned: found.scanned };
}

/** A page by offset, from which one may go on by key. `found` has one entry more than the page when there are more. */
export function pageByOffset(found: readonly DeadLetterHead[], limit: number, offset: number): DlqPage {
  const entries = found.slice(0, limit);
  const [first, last] = [placeOf(entries[0]), placeOf(entries.at(-1))];
  return {
    entries,
    ...(found.length > limit && { next: { order: "oldest", back: false, after: last } }),
    ...(offset > 0 && { prev: { order: "oldest", back: true, after: first } }),
  };
}

/** Without `keyed` there are no cursors: the store has no pages by key. */
export function pageToWire(
  { entries, next, prev, scanned }: DlqPage,
  { limit, offset, keyed }: { readonly limit: number; readonly offset: number; readonly keyed: boolean },
): InferOutput<typeof entryPage> {
  return {
    messages: entries.map(entryHeadToWire),
    limit,
    offset,
    has_more: next !== undefined,
    ...(keyed && next !== undefined && { next_cursor: cursorToWire(next) }),
    ...(keyed && prev !== undefined && { prev_cursor: cursorToWire(prev) }),
    ...(scanned !== undefined && { scanned }),
  };
}

function placeOf(head: DeadLetterHead | undefined): DeadLetterPosition | undefined {
  return head && { failedAt: head.failedAt, id: head.id };
}
