/** Headers of a message in NATS that stand for parts of a message here; both ways, in any letter case. */
export const CARRIED = {
  id: "message-id",
  correlationId: "correlation-id",
  contentType: "content-type",
  orderingKey: "ordering-key",
  expiresAt: "expires-at",
  /** What NATS cannot carry as headers of their own: a JSON object of strings. */
  moreHeaders: "more-headers",
} as const;

/** The server's own header for the deduplication id. */
export const MSG_ID = "Nats-Msg-Id";
export const MSG_ID_LOWER = "nats-msg-id";
/** The server takes a message only if this is the stream that gets it. */
export const EXPECTED_STREAM = "Nats-Expected-Stream";

/** Headers that tell where a message comes from. Inbound only. */
export const NATS_HEADERS = {
  stream: "nats.stream",
  /** Its place in the stream. */
  sequence: "nats.sequence",
  /** `"true"` on a message that was handed out before. */
  redelivered: "nats.redelivered",
} as const;

const PLACE: ReadonlySet<string> = new Set(Object.values(NATS_HEADERS));
const OWN: ReadonlySet<string> = new Set([...Object.values(CARRIED), ...PLACE]);

/** Whether a header, in lower case, describes the message itself, so that no header of it may set it. */
export function isOwn(name: string): boolean {
  return OWN.has(name);
}

/** Whether a header, in lower case, tells where a message comes from; nothing that is sent may say so. */
export function isPlace(name: string): boolean {
  return PLACE.has(name);
}

/**
 * Whether a header, in lower case, is a word to the server or from it. They are not sent: with one of them a message could
 * ask for the rest of its stream to be thrown away.
 */
export function isServers(name: string): boolean {
  return name.startsWith("nats-");
}
