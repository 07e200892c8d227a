import { isReserved, newHeaders, type SourceMessage } from "@bridge/ports";
import type { ConsumeMessage, MessageProperties } from "amqplib";
import { AMQP_HEADERS, CARRIED, DELIVERY_COUNT, isAmqpHeader } from "./header-names.ts";
import { headerText, timeOf } from "./header-value.ts";

type Headers = Record<string, string>;
/** What the library decodes: every property is absent or of its type in the protocol. */
interface Properties {
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly priority?: number;
  readonly correlationId?: string;
  readonly replyTo?: string;
  readonly expiration?: string;
  readonly messageId?: string;
  readonly timestamp?: number;
  readonly type?: string;
  readonly userId?: string;
  readonly appId?: string;
}

/**
 * A message as it came from the broker (the README's table, from left to right).
 *
 * The payload is a view of what was read from the socket: it is not copied here, so whoever keeps it for long copies it.
 */
export function sourceMessage(message: ConsumeMessage, now: number): SourceMessage {
  const properties = propertiesOf(message.properties);
  const { headers = {}, expiration } = properties;
  return {
    id: properties.messageId,
    subject: message.fields.routingKey,
    payload: message.content,
    headers: headersOf(message, properties),
    contentType: properties.contentType,
    correlationId: properties.correlationId,
    dedupId: textIn(headers, CARRIED.dedupId),
    orderingKey: textIn(headers, CARRIED.orderingKey),
    expiresAt: expiration !== undefined && /^\d+$/.test(expiration) ? now + Number(expiration) : undefined,
  };
}

/** How often a quorum queue has handed the message out before; `undefined` when nobody says. */
export function deliveryCount({ properties }: ConsumeMessage): number | undefined {
  const count = propertiesOf(properties).headers?.[DELIVERY_COUNT];
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

function propertiesOf(properties: MessageProperties): Properties {
  return properties as Properties;
}

function headersOf({ fields }: ConsumeMessage, properties: Properties): Headers {
  const headers = newHeaders();
  const { headers: given } = properties;
  for (const written in given) {
    const value = given[written];
    const name = written.toLowerCase();
    if (name === CARRIED.orderingKey || name === CARRIED.dedupId || name === DELIVERY_COUNT) continue;
    if (isReserved(name) || isAmqpHeader(name)) continue;
    const before = headers[name];
    headers[name] = before === undefined ? headerText(value) : `${before}, ${headerText(value)}`;
  }
  set(headers, AMQP_HEADERS.exchange, fields.exchange === "" ? undefined : fields.exchange);
  set(headers, AMQP_HEADERS.redelivered, fields.redelivered ? "true" : undefined);
  set(headers, AMQP_HEADERS.contentEncoding, properties.contentEncoding);
  set(headers, AMQP_HEADERS.replyTo, properties.replyTo);
  set(headers, AMQP_HEADERS.type, properties.type);
  set(headers, AMQP_HEADERS.appId, properties.appId);
  set(headers, AMQP_HEADERS.userId, properties.userId);
  set(headers, AMQP_HEADERS.priority, properties.priority?.toString());
  set(headers, AMQP_HEADERS.timestamp, properties.timestamp === undefined ? undefined : timeOf(properties.timestamp));
  return headers;
}

function set(headers: Headers, name: string, value: string | undefined): void {
  if (value !== undefined) headers[name] = value;
}

function textIn(headers: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = headers[name];
  return value === undefined ? undefined : headerText(value);
}
