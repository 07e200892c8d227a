import type { Clock, DeadLetterQuery } from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { JobsStore } from "./job-parts.ts";

const LOOK_MS = 2_000;
const PAGE = { limit: 100, budget: 1_000, order: "oldest" } as const;
/** What fails while it is looked, and clocks that are as good as they mostly are. */
const TOLERATED_MS = 1_000;

/**
 * What failed later than the clock here says was written by an instance whose clock is ahead, and is in no plan of this one: a warning,
 * when a short look finds such entries.
 */
export async function failedAhead(
  { store, query, clock }: { readonly store: JobsStore; readonly query: DeadLetterQuery; readonly clock: Clock },
  signal: AbortSignal,
): Promise<string | undefined> {
  const since = clock.now() + TOLERATED_MS;
  if ((query.before ?? Number.POSITIVE_INFINITY) <= since) return undefined;
  using limit = deadline(clock, LOOK_MS, new Error("the look took too long"));
  const bounded = AbortSignal.any([signal, limit.signal]);
  const ahead = { ...query, since: Math.max(query.since ?? 0, since) };
  const page = await orAborted(store.page(ahead, PAGE, bounded), bounded).catch(() => undefined);
  signal.throwIfAborted();
  const count = page?.entries.length ?? 0;
  if (count === 0) return undefined;
  const most = page?.next === undefined ? `${count}` : `${count} or more`;
  return `${most} failed later than the clock of this instance says: clocks differ, and these are not in the plan`;
}
