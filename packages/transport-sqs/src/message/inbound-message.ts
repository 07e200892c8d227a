import type { Message } from "@aws-sdk/client-sqs";
import { BridgeError, isReserved, newHeaders, parseTimestamp, type SourceMessage } from "@bridge/ports";
import { decodeBody } from "./body.ts";
import { ATTRIBUTES, isOwn } from "./names.ts";
import { sha256 } from "./text.ts";

export interface Inbound {
  readonly message: SourceMessage;
  /** Why it is no message, though it has bytes. */
  readonly undecodable?: BridgeError;
}

/** What is asked of SQS with each message. */
export const SYSTEM_ATTRIBUTES = {
  standard: ["ApproximateReceiveCount"],
  fifo: ["ApproximateReceiveCount", "MessageGroupId", "MessageDeduplicationId"],
} as const;

/**
 * A message as it came from SQS (the README's table, from right to left). An attribute that makes no sense is a header of its own,
 * so that nothing of the message is lost with what cannot be read.
 */
export function inboundMessage(received: Message, fifo: boolean): Inbound {
  const own = (part: keyof typeof ATTRIBUTES): string | undefined => ownText(received, part);
  let undecodable: BridgeError | undefined;
  const senseless = newHeaders();
  const read = <T>(part: keyof typeof ATTRIBUTES, sense: (text: string | undefined) => T): T | undefined => {
    const text = own(part);
    try {
      return sense(text);
    } catch (error) {
      undecodable ??= BridgeError.from(error);
      if (text !== undefined) senseless[ATTRIBUTES[part]] = text;
      return undefined;
    }
  };
  const body = received.Body ?? "";
  const more = read("moreHeaders", (text) => (text === undefined ? undefined : unpacked(text)));
  const message: SourceMessage = {
    id: own("id") ?? received.MessageId,
    subject: own("subject") ?? "",
    contentType: own("contentType"),
    correlationId: own("correlationId"),
    dedupId: own("dedupId") ?? (fifo ? nativeDedupId(received, body) : undefined),
    orderingKey: orderingKey(received, fifo),
    expiresAt: read("expiresAt", timestamp),
    payload: read("encoding", (encoding) => decodeBody(body, encoding)) ?? Buffer.from(body, "utf8"),
    headers: headersOf(received, { ...more, ...senseless }),
  };
  return undecodable === undefined ? { message } : { message, undecodable };
}

/** A key that is long or has odd characters is in the queue's own field as a hash. */
function orderingKey(received: Message, fifo: boolean): string | undefined {
  const written = ownText(received, "orderingKey");
  if (!fifo) return written;
  const group = received.Attributes?.MessageGroupId;
  // Two keys in one group would be handled side by side, and so out of order.
  return written !== undefined && sha256(written) === group ? written : group;
}

/** The queue's own deduplication id, unless it was made of what is known otherwise: the id, or the body. */
function nativeDedupId(received: Message, body: string): string | undefined {
  const native = received.Attributes?.MessageDeduplicationId;
  if (native === undefined) return undefined;
  const id = ownText(received, "id");
  if (id !== undefined && (native === id || native === sha256(id))) return undefined;
  // One payload may be sent again some minutes later and mean another message: nobody may take that for a repeat.
  return native === sha256(body) ? undefined : native;
}

function headersOf(received: Message, more: Readonly<Record<string, string>>): Record<string, string> {
  const headers = newHeaders();
  for (const name of Object.keys(received.MessageAttributes ?? {}).toSorted()) {
    const lower = name.toLowerCase();
    const acting = isOwn(lower) && actingName(received, lower) === name;
    const value = acting || isReserved(name) ? undefined : textOf(received, name);
    if (value !== undefined) add(headers, lower, value);
  }
  for (const [name, value] of Object.entries(more)) {
    if (!isReserved(name)) add(headers, name.toLowerCase(), value);
  }
  return headers;
}

function add(headers: Record<string, string>, name: string, value: string): void {
  const before = headers[name];
  headers[name] = before === undefined ? value : `${before}, ${value}`;
}

/** What an attribute says of the message itself. */
function ownText(received: Message, part: keyof typeof ATTRIBUTES): string | undefined {
  const name = actingName(received, ATTRIBUTES[part]);
  return name === undefined ? undefined : textOf(received, name);
}

/** Of attributes in different letter cases, the one in lower case acts, else the first by its characters: they have no order. */
function actingName({ MessageAttributes: attributes = {} }: Message, name: string): string | undefined {
  if (attributes[name] !== undefined) return name;
  const alike = Object.keys(attributes).filter((written) => written.toLowerCase() === name);
  return alike.toSorted()[0];
}

function unpacked(more: string): Readonly<Record<string, string>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(more);
  } catch {
    parsed = undefined;
  }
  const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
  if (isObject && Object.values(parsed as object).every((value) => typeof value === "string")) {
    return parsed as Record<string, string>;
  }
  throw new BridgeError("INVALID_PAYLOAD", `the attribute ${ATTRIBUTES.moreHeaders} is no JSON object of strings`);
}

/** Numbers as they are written, binary values in base64. */
function textOf(received: Message, name: string): string | undefined {
  const attribute = received.MessageAttributes?.[name];
  if (attribute?.BinaryValue !== undefined) return Buffer.from(attribute.BinaryValue).toString("base64");
  return attribute?.StringValue;
}

function timestamp(written: string | undefined): number | undefined {
  if (written === undefined) return undefined;
  const time = parseTimestamp(written);
  if (time !== undefined) return time;
  throw new BridgeError(
    "INVALID_PAYLOAD",
    `the attribute ${ATTRIBUTES.expiresAt} is no time such as 2026-01-31T09:30:00Z`,
  );
}
