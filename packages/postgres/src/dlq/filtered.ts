import type { DeadLetterQuery } from "@bridge/ports";
import { keyOf } from "./dead-letter-row.ts";

/** A condition and its values, which begin at `$1`. */
export interface Filtered {
  readonly condition: string;
  readonly values: readonly unknown[];
}

/**
 * Which rows a query means, as far as indexes tell, without those that failed before `visibleFrom`: route, category, both,
 * fingerprint, envelope and correlation, each with time, have an index in the order of failure.
 */
export function filtered(query: DeadLetterQuery, visibleFrom: number): Filtered {
  const { routeId, category, fingerprint, envelopeId, correlationId, since = -Infinity, before } = query;
  const parts: string[] = [];
  const values: unknown[] = [];
  const add = (condition: string, value: unknown): void => {
    if (value === undefined) return;
    values.push(value);
    parts.push(`${condition} $${values.length}`);
  };
  add("failed_at >=", bound(Math.max(since, visibleFrom)));
  add("failed_at <", before === undefined ? undefined : bound(before));
  add("route_id =", routeId);
  add("category =", category);
  add("fingerprint =", fingerprint);
  add("envelope_key =", envelopeId === undefined ? undefined : keyOf(envelopeId));
  add("correlation_key =", correlationId === undefined ? undefined : keyOf(correlationId));
  return { condition: parts.join(" AND "), values };
}

/** What a `bigint` holds: somebody may have put there what is no time, and that is listed and deleted as all else is. */
const LOWEST = "-9223372036854775808";
const HIGHEST = "9223372036854775807";

/** The first whole millisecond that is not before it, as a value for the server. */
export function bound(ms: number): number | string {
  if (ms === -Infinity) return LOWEST;
  return Math.min(Math.max(Math.ceil(ms), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** The whole millisecond that a row of that time has, as a value for the server. */
export function timeOf(ms: number): number | string {
  if (Number.isSafeInteger(Math.floor(ms))) return Math.floor(ms);
  if (ms <= Number(LOWEST)) return LOWEST;
  if (ms >= Number(HIGHEST)) return HIGHEST;
  return String(BigInt(Math.floor(ms)));
}
