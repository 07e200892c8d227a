import { BridgeError, isReserved, newHeaders, type SourceMessage } from "@bridge/ports";
import { fieldText, timeText } from "./codec/field-text.ts";
import type { Field, FieldValue } from "./codec/field-value.ts";
import type { Properties } from "./codec/read-properties.ts";
import { AMQP_HEADERS, CARRIED, CODINGS, CONTENT_ENCODING, DELIVERY_COUNT, isAmqpHeader } from "./header-names.ts";

type Headers = Record<string, string>;

/** A message as its broker hands it out. */
export interface Incoming {
  readonly deliveryTag: number;
  readonly redelivered: boolean;
  readonly exchange: string;
  readonly routingKey: string;
  readonly properties: Properties;
  readonly payload: Buffer;
}

export interface Inbound {
  readonly message: SourceMessage;
  /** Why the message may not go on as it is. */
  readonly undecodable: BridgeError | undefined;
}

/** What acts of a message's headers. */
interface Acting {
  dedupId: string | undefined;
  orderingKey: string | undefined;
  problem: BridgeError | undefined;
}

/**
 * A message as it came from the broker (the README's table, from left to right).
 *
 * The payload is a view of what was read from the socket: it is not copied here, so whoever keeps it for long copies it.
 */
export function inboundMessage(incoming: Incoming, now: number): Inbound {
  const { properties, routingKey, payload } = incoming;
  const acting: Acting = { dedupId: undefined, orderingKey: undefined, problem: properties.problem };
  const headers = headersOf(incoming, acting);
  const expiresAt = expiryOf(properties, now, acting);
  return {
    message: {
      id: properties.messageId,
      subject: routingKey,
      payload,
      headers,
      contentType: properties.contentType,
      correlationId: properties.correlationId,
      dedupId: acting.dedupId,
      orderingKey: acting.orderingKey,
      expiresAt,
    },
    undecodable: acting.problem,
  };
}

/** How often a quorum queue has handed the message out before; `undefined` when nobody says. */
export function deliveryCount({ properties }: Incoming): number | undefined {
  for (const [name, value] of properties.headers?.fields ?? []) {
    if (name === DELIVERY_COUNT)
      return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  }
  return undefined;
}

function headersOf({ exchange, redelivered, properties }: Incoming, acting: Acting): Headers {
  const headers = newHeaders();
  const fields = properties.headers?.fields ?? [];
  const dedupId = acts(fields, CARRIED.dedupId);
  const orderingKey = acts(fields, CARRIED.orderingKey);
  for (const field of fields) {
    const [written, value] = field;
    const name = written.toLowerCase();
    if (field === dedupId) acting.dedupId = identityOf(name, value, acting);
    else if (field === orderingKey) acting.orderingKey = identityOf(name, value, acting);
    else if (name !== DELIVERY_COUNT && !isReserved(name) && !isAmqpHeader(name)) {
      const before = headers[name];
      headers[name] = before === undefined ? fieldText(value) : `${before}, ${fieldText(value)}`;
    }
  }
  set(headers, AMQP_HEADERS.exchange, exchange === "" ? undefined : exchange);
  set(headers, AMQP_HEADERS.redelivered, redelivered ? "true" : undefined);
  const { contentEncoding } = properties;
  if (contentEncoding !== undefined)
    headers[CODINGS.test(contentEncoding) ? CONTENT_ENCODING : AMQP_HEADERS.contentEncoding] = contentEncoding;
  set(headers, AMQP_HEADERS.replyTo, properties.replyTo);
  set(headers, AMQP_HEADERS.type, properties.type);
  set(headers, AMQP_HEADERS.appId, properties.appId);
  set(headers, AMQP_HEADERS.userId, properties.userId);
  set(headers, AMQP_HEADERS.priority, properties.priority?.toString());
  set(headers, AMQP_HEADERS.timestamp, properties.timestamp === undefined ? undefined : timeText(properties.timestamp));
  return headers;
}

/** Of several in different letter cases, the one in lower case acts, else the first; the others are headers. */
function acts(fields: readonly Field[], name: string): Field | undefined {
  return fields.find(([written]) => written === name) ?? fields.find(([written]) => written.toLowerCase() === name);
}

function set(headers: Headers, name: string, value: string | undefined): void {
  if (value !== undefined) headers[name] = value;
}

/** What says when it expires and is no number would else be delivered for ever. */
function expiryOf({ expiration }: Properties, now: number, acting: Acting): number | undefined {
  if (expiration === undefined || expiration === "") return undefined;
  if (/^\d{1,15}$/.test(expiration)) return now + Number(expiration);
  acting.problem ??= new BridgeError("INVALID_PAYLOAD", "the expiration of the message is no number of milliseconds");
  return undefined;
}

/** A number that its publisher may have rounded stands for several identities: what differs would pass for the same. */
function identityOf(name: string, value: FieldValue, acting: Acting): string {
  if (typeof value === "number" && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    acting.problem ??= new BridgeError(
      "INVALID_PAYLOAD",
      `the header "${name}" is a floating point number beyond 2^53, which may stand for several: send it as text or as an integer`,
    );
  }
  return fieldText(value);
}
