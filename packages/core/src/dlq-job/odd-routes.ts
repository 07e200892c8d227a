import type { DeadLetterHead } from "@bridge/ports";
import type { JobKind } from "./job.ts";
import type { SetCount } from "./set-count.ts";

/** No configuration has a route with a longer id; a job writes down each of its routes, and its document has an end. */
const MAX_ROUTE_ID = 256;

/** False: somebody has written it into the entry. */
export function mayBeRoute({ routeId }: Pick<DeadLetterHead, "routeId">): boolean {
  return routeId.length <= MAX_ROUTE_ID;
}

/** The count without such routes, of whose entries a redrive takes none, and what to say of them. */
export function withoutOddRoutes(
  kind: JobKind,
  count: SetCount,
): { readonly count: SetCount; readonly warning: string | undefined } {
  const byRoute = new Map([...count.byRoute].filter(([routeId]) => mayBeRoute({ routeId })));
  if (byRoute.size === count.byRoute.size) return { count, warning: undefined };
  const odd = [...count.byRoute].filter(([routeId]) => !mayBeRoute({ routeId })).reduce((sum, [, n]) => sum + n, 0);
  const are = `${odd} have a route_id of more than ${MAX_ROUTE_ID} characters, which no route has`;
  if (kind === "purge") return { count: { ...count, byRoute }, warning: `${are}: they are purged, too` };
  return {
    count: { ...count, byRoute, total: count.total - odd },
    warning: `${are}: they are not in the plan, and can only be deleted`,
  };
}
