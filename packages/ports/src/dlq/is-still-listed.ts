import { orAborted } from "../async.ts";
import type { DeadLetterHead, DeadLetterPosition, DeadLetterQuery, DlqStore } from "../dlq-store.ts";

const PAGE = { limit: 1_000, budget: 10_000, order: "oldest" } as const;
/** Of one millisecond. */
const MAX_PAGES = 10;

type Shown = Pick<DeadLetterHead, "id" | "failedAt">;
type Pages = Required<Pick<DlqStore, "page">>;

/**
 * Whether pages still have an entry that one has shown and `get` did not give. One that was deleted in between is in none; where it is, the
 * store cannot give what it has, as when an index of its database is damaged.
 */
export async function isStillListed(store: Pages, shown: Shown, signal: AbortSignal): Promise<boolean> {
  return (await isBehindItsLike(store, shown, signal)) || (await isOfItsTime(store, shown, signal));
}

/** A store may show a time that is not the one it finds it by, where somebody has written what is none. */
async function isBehindItsLike(store: Pages, { id, failedAt }: Shown, signal: AbortSignal): Promise<boolean> {
  // Nothing comes before an empty one.
  if (id === "") return false;
  const after = { failedAt, id: Array.from(id).slice(0, -1).join("") };
  const { entries } = await orAborted(store.page({}, { ...PAGE, limit: 100, budget: 100, after }, signal), signal);
  return entries.some((entry) => entry.id === id);
}

/**
 * A store may keep those of one time in the order of other ids than it shows, where somebody has changed these. Beyond 10,000 of one time it
 * counts as listed.
 */
async function isOfItsTime(store: Pages, { id, failedAt }: Shown, signal: AbortSignal): Promise<boolean> {
  const since = Math.floor(failedAt);
  const query: DeadLetterQuery = Number.isSafeInteger(since + 1) ? { since, before: since + 1 } : { since };
  let after: DeadLetterPosition | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { entries, next } = await orAborted(store.page(query, { ...PAGE, after }, signal), signal);
    if (entries.some((entry) => entry.id === id)) return true;
    if (next === undefined) return false;
    after = next;
  }
  return true;
}
