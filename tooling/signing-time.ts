import type { IncomingMessage } from "node:http";

const MAX_SKEW_MS = 300_000;

/**
 * Whether a request to AWS was signed at a time that a service refuses whose own is `aheadMs` milliseconds ahead of the
 * machine's. One that was not signed never is.
 */
export function isSignedAtAnotherTime({ headers }: IncomingMessage, aheadMs: number): boolean {
  const written = String(headers["x-amz-date"] ?? "");
  const signedAt = Date.parse(written.replace(/^(\d{4})(\d\d)(\d\dT\d\d)(\d\d)(\d\dZ)$/, "$1-$2-$3:$4:$5"));
  return Math.abs(signedAt - Date.now() - aheadMs) > MAX_SKEW_MS;
}
