import {
  BridgeError,
  type Clock,
  type DeadLetterHead,
  type DeadLetterPosition,
  type DeadLetterQuery,
} from "@bridge/ports";
import { deadline, orAborted } from "@bridge/ports/internal";
import type { JobsStore } from "./job-parts.ts";
import { positionOf } from "./lane-reader.ts";

/** How many entries a job is about, as far as that could be counted in time. */
export interface SetCount {
  readonly total: number;
  readonly exact: boolean;
  /** Of one that is not exact: so many were seen. `total` may be more, and have those that are held back. */
  readonly seen?: number | undefined;
  readonly byRoute: ReadonlyMap<string, number>;
  readonly oldestFailedAt?: number | undefined;
  readonly newestFailedAt?: number | undefined;
  /** Of a job with a limit: the last entry that it lets in. */
  readonly until?: DeadLetterPosition | undefined;
}

export interface CountOptions {
  readonly store: JobsStore;
  readonly query: DeadLetterQuery;
  /** The query without what the job itself holds back: stores have counts of what does not ask for marks. */
  readonly loose?: DeadLetterQuery | undefined;
  readonly limit: number | undefined;
  readonly clock: Clock;
}

const COUNT_MS = 5_000;
/** Of what the store has at hand. */
const ESTIMATE_MS = 3_000;
const PAGE = { limit: 1_000, budget: 10_000 } as const;
const MAX_GROUPS = 1_000;

/**
 * By the store's own counts where they are exact, else by going through the set; each in its time.
 * @throws BridgeError `TIMEOUT` when nothing was told of the set in time
 */
export async function countSet(options: CountOptions, signal: AbortSignal): Promise<SetCount> {
  if (options.limit === undefined) {
    const counted = await facetsInTime(options, COUNT_MS, signal);
    if (counted !== undefined) return counted;
  }
  const scanned = await scan(options, signal);
  // With a limit, what was seen is what it is about.
  return scanned.exact || options.limit !== undefined ? scanned : withEstimate(scanned, options, signal);
}

/** How many there may be, by the store's own count of what has any marks, where that is at hand. */
async function withEstimate(scanned: SetCount, options: CountOptions, signal: AbortSignal): Promise<SetCount> {
  const counted = { ...scanned, seen: scanned.total };
  const all = options.loose && (await facetsInTime({ ...options, query: options.loose }, ESTIMATE_MS, signal));
  if (all === undefined || all.total <= scanned.total) return counted;
  return { ...counted, total: all.total, byRoute: all.byRoute, newestFailedAt: all.newestFailedAt };
}

async function facetsInTime(
  options: CountOptions,
  withinMs: number,
  signal: AbortSignal,
): Promise<SetCount | undefined> {
  using limit = deadline(options.clock, withinMs, new Error("the count took too long"));
  const bounded = AbortSignal.any([signal, limit.signal]);
  const counted = await facets(options, bounded).catch(() => undefined);
  signal.throwIfAborted();
  return counted;
}

async function facets({ store, query }: CountOptions, signal: AbortSignal): Promise<SetCount | undefined> {
  if (store.facets === undefined) return undefined;
  const request = { query, by: ["routeId"], maxGroups: MAX_GROUPS, buckets: 0, fresh: true } as const;
  const found = await orAborted(store.facets(request, signal), signal);
  if (!found.exact || found.moreGroups) return undefined;
  return {
    total: found.total,
    exact: true,
    byRoute: new Map(found.groups.map(({ key, count }) => [key.routeId ?? "", count])),
    oldestFailedAt: found.oldestFailedAt,
    newestFailedAt: found.newestFailedAt,
  };
}

/** When only the time for counting is up, what was counted by then is the answer. */
async function scan(
  { store, query, limit = Number.POSITIVE_INFINITY, clock }: CountOptions,
  signal: AbortSignal,
): Promise<SetCount> {
  using time = deadline(clock, COUNT_MS, new Error("the count took too long"));
  const bounded = AbortSignal.any([signal, time.signal]);
  const byRoute = new Map<string, number>();
  let [total, exact] = [0, true];
  let [first, last]: readonly (DeadLetterHead | undefined)[] = [];
  let after: DeadLetterPosition | undefined;
  do {
    const page = { limit: Math.min(PAGE.limit, limit - total), budget: PAGE.budget, order: "oldest", after } as const;
    try {
      const { entries, next } = await orAborted(store.page(query, page, bounded), bounded);
      for (const { routeId } of entries) byRoute.set(routeId, (byRoute.get(routeId) ?? 0) + 1);
      total += entries.length;
      first ??= entries[0];
      last = entries.at(-1) ?? last;
      after = next;
    } catch (thrown) {
      signal.throwIfAborted();
      if (!bounded.aborted) throw BridgeError.from(thrown);
      // That there is nothing would be another answer.
      if (total === 0) throw new BridgeError("TIMEOUT", "the DLQ store did not answer");
      exact = false;
      break;
    }
  } while (after !== undefined && total < limit);
  const isLimited = limit !== Number.POSITIVE_INFINITY && last !== undefined;
  return {
    total,
    exact,
    byRoute,
    oldestFailedAt: first?.failedAt,
    newestFailedAt: last?.failedAt,
    ...(isLimited && last !== undefined && { until: positionOf(last) }),
  };
}
