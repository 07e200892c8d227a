import type { DeadLetterFilter } from "@bridge/ports";

/** A condition and its values, which begin at `$1`. */
export interface Filtered {
  readonly condition: string;
  readonly values: readonly unknown[];
}

/** Which rows a filter means, without those that failed before `visibleFrom`: each combination has its index. */
export function filtered(filter: DeadLetterFilter, visibleFrom: number): Filtered {
  const { routeId, category, since = -Infinity, before } = filter;
  const parts: string[] = [];
  const values: unknown[] = [];
  const add = (condition: string, value: unknown): void => {
    values.push(value);
    parts.push(`${condition} $${values.length}`);
  };
  add("failed_at >=", bound(Math.max(since, visibleFrom)));
  if (before !== undefined) add("failed_at <", bound(before));
  if (routeId !== undefined) add("route_id =", routeId);
  if (category !== undefined) add("category =", category);
  return { condition: parts.join(" AND "), values };
}

/** What a `bigint` holds at least: somebody may have put there what is no time, and that is listed and deleted as all else is. */
const LOWEST = "-9223372036854775808";

/** The first whole millisecond that is not before it, as a value for the server. */
export function bound(ms: number): number | string {
  if (ms === -Infinity) return LOWEST;
  return Math.min(Math.max(Math.ceil(ms), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}
