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

/** A message as it came from the broker; one that has properties without sense has all the others. */
export function inbound(packet: IPublishPacket, idProperty: string, now: () => number): Inbound {
  const { properties } = packet;
  if (properties === undefined) return { message: sourceMessage(packet, idProperty, now) };
  const senseless = senselessOf(properties);
  if (senseless.length === 0) return { message: sourceMessage(packet, idProperty, now) };
  const message = sourceMessage({ ...packet, properties: without(properties, senseless) }, idProperty, now);
  return { message, undecodable: malformed(senseless.join(", ")) };
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
function senselessOf(properties: Properties): readonly (keyof Properties)[] {
  const { contentType, responseTopic, correlationData, messageExpiryInterval, userProperties } = properties;
  const senseless: (keyof Properties)[] = [];
  if (contentType !== undefined && typeof contentType !== "string") senseless.push("contentType");
  if (responseTopic !== undefined && typeof responseTopic !== "string") senseless.push("responseTopic");
  if (correlationData !== undefined && !(correlationData instanceof Uint8Array)) senseless.push("correlationData");
  if (messageExpiryInterval !== undefined && !(messageExpiryInterval >= 0)) senseless.push("messageExpiryInterval");
  for (const name in userProperties) {
    if (areTexts(userProperties[name])) continue;
    senseless.push("userProperties");
    break;
  }
  return senseless;
}

/** Of the user properties those stay that are texts. */
function without(properties: Properties, senseless: readonly (keyof Properties)[]): Properties {
  const left = { ...properties };
  for (const name of senseless) delete left[name];
  if (senseless.includes("userProperties"))
    left.userProperties = Object.fromEntries(
      Object.entries(properties.userProperties ?? {}).filter(([, value]) => areTexts(value)),
    );
  return left;
}

function areTexts(value: unknown): boolean {
  return (Array.isArray(value) ? value : [value]).every((one) => typeof one === "string");
}

function malformed(properties: string): BridgeError {
  return new BridgeError("INVALID_PAYLOAD", `the message cannot be decoded: malformed properties: ${properties}`);
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
