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
  readonly byRoute: ReadonlyMap<string, number>;
  readonly oldestFailedAt?: number | undefined;
  readonly newestFailedAt?: number | undefined;
  /** Of a job with a limit: the last entry that it lets in. */
  readonly until?: DeadLetterPosition | undefined;
}

export interface CountOptions {
  readonly store: JobsStore;
  readonly query: DeadLetterQuery;
  readonly limit: number | undefined;
  readonly clock: Clock;
}

const COUNT_MS = 5_000;
const PAGE = { limit: 1_000, budget: 10_000 } as const;
const MAX_GROUPS = 1_000;

/**
 * By the store's own counts where they are exact, else by going through the set; each in its time.
 * @throws BridgeError `TIMEOUT` when nothing was told of the set in time
 */
export async function countSet(options: CountOptions, signal: AbortSignal): Promise<SetCount> {
  if (options.limit === undefined) {
    using limit = deadline(options.clock, COUNT_MS, new Error("the count took too long"));
    const bounded = AbortSignal.any([signal, limit.signal]);
    const counted = await facets(options, bounded).catch(() => undefined);
    if (counted !== undefined) return counted;
  }
  return scan(options, signal);
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
