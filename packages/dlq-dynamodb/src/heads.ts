import type {
  Clock,
  DeadLetterHead,
  DeadLetterPage,
  DeadLetterQuery,
  Facets,
  FacetsRequest,
  KeyedPage,
} from "@bridge/ports";
import { FacetTally, matchesQuery, PageOfHeads, Slices } from "@bridge/ports/internal";
import { headOf } from "./dead-letter-item.ts";
import type { EntryIndex } from "./entry-index.ts";
import { positionOf } from "./order-key.ts";

/** Heads that are looked at to count by groups. */
const NEWEST = 20_000;

/** A page by key: what the query asks for beyond route, category and time is looked at while reading along. */
export async function pageOf(
  query: DeadLetterQuery,
  { limit, order, after, budget }: KeyedPage,
  index: EntryIndex,
  clock: Clock,
  signal: AbortSignal,
): Promise<DeadLetterPage> {
  signal.throwIfAborted();
  const page = new PageOfHeads(query, { limit, budget });
  const slices = new Slices(clock);
  const count = isIndexed(query) ? Math.min(page.room + 1, page.wanted) : page.wanted;
  for await (const item of index.heads(query, { order, after, count }, signal)) {
    const { id, order_key: key } = item;
    if (page.add(headOf(item), positionOf(key?.S ?? "", id?.S ?? "", order))) break;
    if (slices.over) await slices.next();
  }
  return page.page;
}

/** Counts the newest entries by groups. */
export async function countNewest(
  request: FacetsRequest,
  index: EntryIndex,
  clock: Clock,
  signal: AbortSignal,
): Promise<Facets> {
  const { query } = request;
  const tally = new FacetTally<DeadLetterHead>(request);
  const slices = new Slices(clock);
  let looked = 0;
  for await (const item of index.heads(query, { order: "newest", count: NEWEST + 1 }, signal)) {
    if (looked === NEWEST) return { ...tally.facets(false, (head) => head), counted: looked };
    looked++;
    const head = headOf(item);
    const { failedAt } = head;
    if (matchesQuery(head, query)) tally.add(head, { count: 1, oldestFailedAt: failedAt, newestFailedAt: failedAt });
    if (slices.over) await slices.next();
  }
  return tally.facets(true, (head) => head);
}

/** Whether the index holds what the query asks for, and nothing else. */
function isIndexed(query: DeadLetterQuery): boolean {
  const known = new Set(["routeId", "category", "since", "before"]);
  return Object.entries(query).every(([name, field]) => field === undefined || known.has(name));
}
