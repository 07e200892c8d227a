/** A target that asks for more is asked again after this. */
const MAX_RETRY_AFTER_MS = 3_600_000;

/**
 * Milliseconds of a `Retry-After` header, in seconds or as an HTTP date, at most an hour; `undefined` without a
 * readable one. `now` is epoch milliseconds.
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  // A date begins with the name of its day; the platform would read a year into nearly anything else.
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : /^[a-z]/i.test(text) ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(0, ms), MAX_RETRY_AFTER_MS);
}
