import { BridgeError, isReserved, newHeaders, type SourceMessage } from "@bridge/ports";
import type { IPublishPacket, UserProperties } from "mqtt-packet";
import { decodeCorrelation } from "./correlation.ts";
import { isMqttHeader, MQTT_HEADERS, PROPERTIES } from "./header-names.ts";

type Headers = Record<string, string>;
type Properties = NonNullable<IPublishPacket["properties"]>;

const NONE: UserProperties = newHeaders();

/** A message that was read, and why no more than its payload could be. */
export interface Inbound {
  readonly message: SourceMessage;
  readonly undecodable?: BridgeError;
}

/** A message as it came from the broker; one whose properties make no sense has its topic and its payload. */
export function inbound(packet: IPublishPacket, idProperty: string, now: () => number): Inbound {
  try {
    return { message: sourceMessage(packet, idProperty, now) };
  } catch (error) {
    const headers = flags(packet, newHeaders());
    const message = { subject: packet.topic, payload: packet.payload as Buffer, headers };
    return { message, undecodable: BridgeError.from(error) };
  }
}

/**
 * A message as it came from the broker (the README's table, from right to left).
 *
 * The payload is a view of what was read from the socket: it is not copied here, so whoever keeps it for long copies it.
 */
export function sourceMessage(packet: IPublishPacket, idProperty: string, now: () => number): SourceMessage {
  const payload = packet.payload as Buffer;
  const { properties } = packet;
  if (properties === undefined) {
    return {
      subject: packet.topic,
      payload,
      headers: packet.retain || packet.dup ? flags(packet, newHeaders()) : undefined,
    };
  }
  checkProperties(properties);
  const { userProperties = NONE, correlationData, messageExpiryInterval } = properties;
  const acting = [idProperty, PROPERTIES.dedupId, PROPERTIES.orderingKey].map((name) => acts(userProperties, name));
  const [id, dedupId, orderingKey] = acting.map((name) => firstOf(userProperties, name));
  return {
    id,
    subject: packet.topic,
    payload,
    headers: headersOf(packet, acting),
    contentType: properties.contentType,
    correlationId: correlationData && decodeCorrelation(correlationData),
    dedupId,
    orderingKey,
    expiresAt: messageExpiryInterval === undefined ? undefined : now() + messageExpiryInterval * 1_000,
  };
}

/** A property that is said twice is a list, one that is cut off `null` or -1, whatever the types say. */
function checkProperties({
  contentType,
  responseTopic,
  correlationData,
  messageExpiryInterval,
  userProperties,
}: Properties): void {
  for (const [name, value] of Object.entries({ contentType, responseTopic }))
    if (value !== undefined && typeof value !== "string") throw malformed(name);
  if (correlationData !== undefined && !(correlationData instanceof Uint8Array)) throw malformed("correlationData");
  if (messageExpiryInterval !== undefined && !(messageExpiryInterval >= 0)) throw malformed("messageExpiryInterval");
  for (const name in userProperties) {
    const value: unknown = userProperties[name];
    if (!(Array.isArray(value) ? value : [value]).every((one) => typeof one === "string"))
      throw malformed("userProperties");
  }
}

function malformed(property: string): BridgeError {
  return new BridgeError("INVALID_PAYLOAD", `the message cannot be decoded: its property ${property} is malformed`);
}

function headersOf(packet: IPublishPacket, acting: readonly (string | undefined)[]): Headers | undefined {
  const { userProperties, responseTopic } = packet.properties ?? {};
  if (userProperties === undefined && responseTopic === undefined && !packet.retain && !packet.dup) return undefined;
  const headers = newHeaders();
  if (userProperties !== undefined) copyProperties(userProperties, headers, acting);
  if (responseTopic !== undefined) headers[MQTT_HEADERS.responseTopic] = responseTopic;
  return flags(packet, headers);
}

function flags(packet: IPublishPacket, headers: Headers): Headers {
  if (packet.retain) headers[MQTT_HEADERS.retain] = "true";
  if (packet.dup) headers[MQTT_HEADERS.dup] = "true";
  return headers;
}

/** Names that are repeated, or differ in letter case only, become one header, as fields of HTTP do. */
function copyProperties(from: UserProperties, to: Headers, acting: readonly (string | undefined)[]): void {
  for (const property in from) {
    const name = property.toLowerCase();
    if (isReserved(name) || isMqttHeader(name)) continue;
    const value = from[property] ?? "";
    const values = Array.isArray(value) ? value : [value];
    // The first of those that act does; what it leaves is a header.
    const rest = acting.includes(property) ? values.slice(1) : values;
    if (rest.length === 0) continue;
    const text = rest.join(", ");
    const before = to[name];
    to[name] = before === undefined ? text : `${before}, ${text}`;
  }
}

/** How the property is written that acts: of several in different letter cases the one that is as it should be, else the first. */
function acts(properties: UserProperties, name: string): string | undefined {
  if (properties[name] !== undefined) return name;
  const lower = name.toLowerCase();
  for (const property in properties)
    if (property.length === name.length && property.toLowerCase() === lower) return property;
  return undefined;
}

function firstOf(properties: UserProperties, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : properties[name];
  return Array.isArray(value) ? value[0] : value;
}
