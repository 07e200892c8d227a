import { orAborted } from "../async.ts";
import type { DeadLetterHead, DlqStore } from "../dlq-store.ts";

/** There may be others of the same time whose ids come right before it. */
const PAGE = { limit: 100, budget: 100, order: "oldest" } as const;

/**
 * Whether pages still have an entry that one has shown and `get` did not give. One that was deleted in between is in none; where it is, the
 * store cannot give what it has, as when an index of its database is damaged.
 */
export async function isStillListed(
  store: Required<Pick<DlqStore, "page">>,
  { id, failedAt }: Pick<DeadLetterHead, "id" | "failedAt">,
  signal: AbortSignal,
): Promise<boolean> {
  // Nothing comes before an empty one.
  const [query, after] =
    id === ""
      ? [{ since: Math.floor(failedAt) }, undefined]
      : [{}, { failedAt, id: Array.from(id).slice(0, -1).join("") }];
  const { entries } = await orAborted(store.page(query, { ...PAGE, after }, signal), signal);
  return entries.some((entry) => entry.id === id);
}
