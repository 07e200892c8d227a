/** The attributes of a message in SQS that stand for parts of a message here; both ways. */
export const ATTRIBUTES = {
  id: "message-id",
  subject: "subject",
  contentType: "content-type",
  correlationId: "correlation-id",
  dedupId: "dedup-id",
  orderingKey: "ordering-key",
  expiresAt: "expires-at",
  /** How the body stands for the payload; absent: as text. */
  encoding: "payload-encoding",
  /** What did not fit into attributes of its own: a JSON object of strings. */
  moreHeaders: "more-headers",
} as const;

const OWN: ReadonlySet<string> = new Set(Object.values(ATTRIBUTES));

/** Whether an attribute describes the message itself, so that it is no header. */
export function isOwn(name: string): boolean {
  return OWN.has(name);
}
