import type { SendMessageBatchRequestEntry } from "@aws-sdk/client-sqs";
import { BridgeError, carriedHeaders, type Envelope, RESERVED } from "@bridge/ports";
import { Attributes } from "./attributes.ts";
import { encodeBody } from "./body.ts";
import { carriedId } from "./text.ts";

/** A message as SQS takes it, but for the id that it has in its batch. */
type OutboundEntry = Omit<SendMessageBatchRequestEntry, "Id">;

export interface OutboundMessage {
  readonly entry: OutboundEntry;
  /** Bytes, as SQS counts them: the body and the attributes. */
  readonly size: number;
}

/** How messages are written for one queue. */
export interface QueueTraits {
  readonly fifo: boolean;
  /** The group of what has no ordering key. */
  readonly groupId?: string | undefined;
}

/** What SQS takes of one message, and of one batch. */
export const MAX_BYTES = 1_048_576;
/** The last moment that can be written with a year of four digits. */
const LAST_MOMENT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * An envelope as a message of SQS (the README's table, from left to right).
 *
 * @throws BridgeError of class rejected when something in it cannot be said in SQS, or it is too large; `BINDING_UNRESOLVED`
 * when a FIFO queue has no group for it
 */
export function outboundMessage(envelope: Envelope, { fifo, groupId }: QueueTraits): OutboundMessage {
  const { text: MessageBody, encoding } = encodeBody(envelope.payload);
  const attributes = new Attributes();
  attributes.own("id", envelope.id);
  attributes.own("subject", envelope.subject);
  attributes.own("contentType", envelope.contentType);
  // A receiver takes the id for it when there is none.
  if (envelope.correlationId !== envelope.id) attributes.own("correlationId", envelope.correlationId);
  attributes.own("expiresAt", expiry(envelope.expiresAt));
  attributes.own("encoding", encoding ?? "");

  const dedupId = envelope.headers[RESERVED.dedupId];
  const orderingKey = envelope.headers[RESERVED.orderingKey];
  const native = fifo ? fifoIds(orderingKey ?? groupId, dedupId ?? envelope.id) : undefined;
  // What the queue's own fields say needs no attribute.
  if (dedupId !== undefined && dedupId !== native?.MessageDeduplicationId) attributes.own("dedupId", dedupId);
  if (orderingKey !== undefined && orderingKey !== native?.MessageGroupId) attributes.own("orderingKey", orderingKey);

  attributes.headers(carriedHeaders(envelope.headers));
  const size = Buffer.byteLength(MessageBody) + attributes.size;
  if (size > MAX_BYTES) throw tooLarge(size);
  return { entry: { MessageBody, MessageAttributes: attributes.values, ...native }, size };
}

function fifoIds(
  group: string | undefined,
  dedup: string,
): Pick<OutboundEntry, "MessageGroupId" | "MessageDeduplicationId"> {
  if (group === undefined) {
    throw new BridgeError(
      "BINDING_UNRESOLVED",
      "a FIFO queue needs a group for each message, and this one has no ordering key: set message_group_id of the sender",
    );
  }
  return { MessageGroupId: carriedId(group), MessageDeduplicationId: carriedId(dedup) };
}

function expiry(expiresAt: number | undefined): string {
  if (expiresAt === undefined || expiresAt < 0 || expiresAt > LAST_MOMENT) return "";
  return new Date(expiresAt).toISOString();
}

function tooLarge(size: number): BridgeError {
  return new BridgeError(
    "PAYLOAD_TOO_LARGE",
    `the message would have ${size} bytes in SQS, headers included and base64 if it is binary; ${MAX_BYTES} are allowed`,
  );
}
