import type { ConfirmChannel } from "amqplib";

/** A message's method and properties, under the names that the library has for their fields in the protocol. */
export interface PublishFields {
  exchange: string;
  routingKey: string;
  mandatory: boolean;
  deliveryMode: number;
  headers: Readonly<Record<string, string>>;
  messageId: string;
  contentType: string | undefined;
  contentEncoding: string | undefined;
  priority: number | undefined;
  correlationId: string | undefined;
  replyTo: string | undefined;
  expiration: string | undefined;
  timestamp: number | undefined;
  type: string | undefined;
  appId: string | undefined;
}

/** What the library's own `publish` is made of. */
interface Internals {
  sendMessage(method: PublishFields, properties: PublishFields, content: Buffer): boolean;
  pushConfirmCallback(confirmed: (error: Error | null) => void): void;
}

/**
 * Publishes without the library's `publish`, which makes the headers of each message the prototype of another object. For a
 * prototype the runtime makes a class of its own, in old memory, which costs as much as all other encoding of a message.
 *
 * @throws Error when the channel is closed
 */
export function publishOn(
  channel: ConfirmChannel,
  fields: PublishFields,
  payload: Buffer,
  confirmed: (error: Error | null) => void,
): void {
  const internals = channel as unknown as Internals;
  internals.sendMessage(fields, fields, payload);
  internals.pushConfirmCallback(confirmed);
}
