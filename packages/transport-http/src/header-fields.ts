/** The fields that this transport maps to parts of an envelope, in both directions (contract §8). */
export const FIELDS = {
  contentType: "content-type",
  idempotencyKey: "idempotency-key",
  correlationId: "x-correlation-id",
  subject: "x-subject",
  orderingKey: "x-ordering-key",
  expiresAt: "x-expires-at",
} as const;

const NEVER_CARRIED: ReadonlySet<string> = new Set([
  ...Object.values(FIELDS),
  // What belongs to one connection or frames one message (RFC 9110 §7.6.1).
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  // Credentials.
  "authorization",
  "cookie",
  "set-cookie",
  "x-api-key",
]);

/**
 * Whether a header of this lower-case name passes between a request and an envelope as it is. Connection and framing
 * fields, credentials and {@link FIELDS} do not, in either direction.
 */
export function isEndToEnd(name: string): boolean {
  return !NEVER_CARRIED.has(name) && !name.startsWith("proxy-");
}
