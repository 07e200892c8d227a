import type { DeadLetterPosition } from "@bridge/ports";
import { markOf } from "../dlq/failed-replay.ts";
import type { Job } from "./job.ts";
import { isBehind, type LaneReaderOptions, type PageFilter, pageOf } from "./lane-reader.ts";
import { mayBeRoute } from "./odd-routes.ts";
import { isPlanned } from "./planned-entry.ts";
import { setQuery } from "./set-query.ts";

interface Strays extends Pick<LaneReaderOptions, "store" | "clock"> {
  readonly job: Job;
}

/**
 * Of the whole set, the entries that no route's lane can have met: asked for the entries of their route, the store does not show them.
 * That an entry has no mark of this job does not say so: a redrive of the entry alone has put its own in its place.
 */
export function straysOf({ job, store, clock }: Strays): PageFilter {
  const of = { jobId: job.id, attempt: job.attempt };
  const query = setQuery(job);

  /** Those of a route that the store shows under it, up to `last`. */
  async function shown(
    routeId: string,
    last: DeadLetterPosition,
    from: DeadLetterPosition | undefined,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const ids: string[] = [];
    for (let after = from; ;) {
      const { entries, next } = await pageOf({ store, clock, query: { ...query, routeId } }, after, signal);
      ids.push(...entries.map(({ id }) => id));
      if (next === undefined || !isBehind(last, next)) return ids;
      after = next;
    }
  }

  return async (heads, after, signal) => {
    const planned = heads.filter((head) => isPlanned(head, job));
    const unmarked = planned.filter((head) => mayBeRoute(head) && markOf(head, of) === undefined);
    const lastOf = new Map(unmarked.map((head) => [head.routeId, head]));
    const met = new Set<string>();
    for (const { routeId } of job.lanes) {
      const last = lastOf.get(routeId);
      if (last !== undefined) for (const id of await shown(routeId, last, after, signal)) met.add(id);
    }
    return unmarked.filter(({ id }) => !met.has(id));
  };
}
