import assert from "node:assert/strict";
import type {
  DeadLetterHead,
  DeadLetterPage,
  DeadLetterQuery,
  DlqJobs,
  DlqMarks,
  DlqStore,
  DlqTrash,
  Facets,
  FacetsRequest,
  KeyedPage,
} from "@bridge/ports";
import { adminOf } from "./check.ts";

const HOUR_MS = 3_600_000;
/** More than any page of these cases looks at. */
const BUDGET = 10_000;

export function pageOf(
  store: DlqStore,
  query: DeadLetterQuery,
  page: Partial<KeyedPage>,
  signal: AbortSignal,
): Promise<DeadLetterPage> {
  assert.ok(store.page !== undefined, "the store has no pages by key");
  return store.page(query, { limit: 100, order: "oldest", budget: BUDGET, ...page }, signal);
}

/** The heads of all pages, one after another. */
export async function walk(
  store: DlqStore,
  query: DeadLetterQuery,
  page: Partial<KeyedPage>,
  signal: AbortSignal,
): Promise<readonly DeadLetterHead[]> {
  const heads: DeadLetterHead[] = [];
  let { after } = page;
  do {
    const { entries, next, scanned } = await pageOf(store, query, { ...page, after }, signal);
    const { limit = 100, budget = BUDGET } = page;
    assert.ok(entries.length <= limit, `${entries.length} entries in a page of ${limit}`);
    assert.ok(scanned <= budget, `${scanned} heads were looked at, with a budget of ${budget}`);
    assert.ok(next === undefined || next.id !== after?.id, "the next page begins where this one did");
    heads.push(...entries);
    after = next;
  } while (after !== undefined);
  return heads;
}

export function facetsOf(store: DlqStore, request: Partial<FacetsRequest>, signal: AbortSignal): Promise<Facets> {
  assert.ok(store.facets !== undefined, "the store counts no groups");
  return store.facets({ query: {}, by: ["routeId", "errorCode"], maxGroups: 200, buckets: 0, ...request }, signal);
}

export function marksOf(store: DlqStore): DlqMarks {
  assert.ok(store.marks !== undefined, "the store keeps no marks");
  return store.marks;
}

export function jobsOf(store: DlqStore): DlqJobs {
  assert.ok(store.jobs !== undefined, "the store keeps no jobs");
  return store.jobs;
}

export function trashOf(store: DlqStore): DlqTrash {
  const { trash } = adminOf(store);
  assert.ok(trash !== undefined, "the store has no trash");
  return trash;
}

/** Longer than any case takes. */
export function later(): number {
  return Date.now() + HOUR_MS;
}

/** Without what is `undefined`. */
export function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
