import type { Random } from "@bridge/ports";

export const CORRELATION_HEADER = "X-Correlation-ID";
const WELL_FORMED = /^[\w.:/+=@-]{1,128}$/;

/** On every response, whatever it says (contract §3). */
export const SECURITY_HEADERS = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "X-Frame-Options": "DENY",
} as const;

/** The request's own correlation id when it is well formed, else a new one. */
export function correlationId(headers: Headers, random: Random): string {
  const own = headers.get(CORRELATION_HEADER);
  return own !== null && WELL_FORMED.test(own) ? own : random.id();
}
