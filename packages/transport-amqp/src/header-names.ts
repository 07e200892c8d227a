/** Headers that stand for parts of an AMQP message which are not headers of its own. */
export const AMQP_HEADERS = {
  /** `"true"` on a message that the broker may have handed out before. Inbound only. */
  redelivered: "amqp.redelivered",
  /** The exchange that the message was published to; absent for the default one. Inbound only. */
  exchange: "amqp.exchange",
  /** Who published it, as far as the broker has checked. Inbound only: a broker takes no other name than the sender's own. */
  userId: "amqp.user-id",
  /** What is no coding of HTTP's; one of those is {@link CONTENT_ENCODING}. */
  contentEncoding: "amqp.content-encoding",
  replyTo: "amqp.reply-to",
  type: "amqp.type",
  appId: "amqp.app-id",
  /** 0 to 255, in digits. */
  priority: "amqp.priority",
  /** When it was made, in RFC 3339. */
  timestamp: "amqp.timestamp",
} as const;

/** Headers of the message with a meaning of their own, both ways. */
export const CARRIED = {
  orderingKey: "ordering-key",
  dedupId: "dedup-id",
} as const;

/** What HTTP calls the property of that name. */
export const CONTENT_ENCODING = "content-encoding";
/** What HTTP knows as codings (RFC 9110 §8.4.1). Others in the property are something else: Celery's `utf-8` is a charset. */
export const CODINGS =
  /^(?:(?:x-)?(?:gzip|compress)|deflate|br|zstd)(?:[\t ]*,[\t ]*(?:(?:x-)?(?:gzip|compress)|deflate|br|zstd))*$/i;

/** The broker's own count: it is the receive count of a delivery, and no header. */
export const DELIVERY_COUNT = "x-delivery-count";

const OWN: ReadonlySet<string> = new Set(Object.values(AMQP_HEADERS));
const BROKERS = /^x-(?:delivery-count|acquired-count|death|(?:first|last)-death-(?:queue|exchange|reason))$/;

/** Whether a header describes the message itself, so that no header of it may set it and none is made of it. */
export function isAmqpHeader(name: string): boolean {
  return OWN.has(name);
}

/** Whether only brokers write this header. They rely on its form, so it is not sent. */
export function isBrokersHeader(name: string): boolean {
  return name.startsWith("x-") && BROKERS.test(name);
}
