import type { Clock, DeadLetterQuery, DlqStore } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";

const LOOK_MS = 2_000;
const PAGE = { limit: 100, budget: 1_000, order: "oldest" } as const;
/** What fails while it is looked, and clocks that are as good as they mostly are. */
const TOLERATED_MS = 1_000;

export interface AheadOptions {
  readonly store: Required<Pick<DlqStore, "page">>;
  readonly query: DeadLetterQuery;
  readonly clock: Clock;
  /** What they are not in: `plan`. */
  readonly missing: string;
}

/**
 * What failed later than the clock here says was written by an instance whose clock is ahead, or moved there by somebody, and is in no
 * plan and no export of this one: a warning, when a short look finds such entries, or cannot tell.
 */
export async function failedAhead(
  { store, query, clock, missing }: AheadOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  const since = clock.now() + TOLERATED_MS;
  if ((query.before ?? Number.POSITIVE_INFINITY) <= since) return undefined;
  using limit = deadline(clock, LOOK_MS, new Error("the look took too long"));
  const bounded = AbortSignal.any([signal, limit.signal]);
  const ahead = { ...query, since: Math.max(query.since ?? 0, since) };
  const page = await orAborted(store.page(ahead, PAGE, bounded), bounded).catch(() => undefined);
  signal.throwIfAborted();
  if (page === undefined)
    return `whether entries failed later than the clock of this instance says could not be looked at in time: such ones are not in the ${missing}`;
  const count = page.entries.length;
  if (count === 0) return undefined;
  const most = page.next === undefined ? `${count}` : `${count} or more`;
  return `${most} failed later than the clock of this instance says: clocks differ, and these are not in the ${missing}`;
}
