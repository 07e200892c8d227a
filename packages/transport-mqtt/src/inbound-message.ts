import { isReserved, newHeaders, type SourceMessage } from "@bridge/ports";
import type { IPublishPacket, UserProperties } from "mqtt-packet";
import { decodeCorrelation } from "./correlation.ts";
import { isMqttHeader, MQTT_HEADERS, PROPERTIES } from "./header-names.ts";

type Headers = Record<string, string>;

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
  const { userProperties, correlationData, messageExpiryInterval } = properties;
  return {
    id: userProperties && firstOf(userProperties, idProperty),
    subject: packet.topic,
    payload,
    headers: headersOf(packet, idProperty),
    contentType: properties.contentType,
    correlationId: correlationData && decodeCorrelation(correlationData),
    dedupId: userProperties && firstOf(userProperties, PROPERTIES.dedupId),
    orderingKey: userProperties && firstOf(userProperties, PROPERTIES.orderingKey),
    expiresAt: messageExpiryInterval === undefined ? undefined : now() + messageExpiryInterval * 1_000,
  };
}

function headersOf(packet: IPublishPacket, idProperty: string): Headers | undefined {
  const { userProperties, responseTopic } = packet.properties ?? {};
  if (userProperties === undefined && responseTopic === undefined && !packet.retain && !packet.dup) return undefined;
  const headers = newHeaders();
  if (userProperties !== undefined) copyProperties(userProperties, headers, idProperty);
  if (responseTopic !== undefined) headers[MQTT_HEADERS.responseTopic] = responseTopic;
  return flags(packet, headers);
}

function flags(packet: IPublishPacket, headers: Headers): Headers {
  if (packet.retain) headers[MQTT_HEADERS.retain] = "true";
  if (packet.dup) headers[MQTT_HEADERS.dup] = "true";
  return headers;
}

/** Names that are repeated, or differ in letter case only, become one header, as fields of HTTP do. */
function copyProperties(from: UserProperties, to: Headers, idProperty: string): void {
  for (const property in from) {
    if (property === idProperty || property === PROPERTIES.orderingKey || property === PROPERTIES.dedupId) continue;
    const name = property.toLowerCase();
    if (isReserved(name) || isMqttHeader(name)) continue;
    const value = from[property];
    const text = Array.isArray(value) ? value.join(", ") : (value ?? "");
    const before = to[name];
    to[name] = before === undefined ? text : `${before}, ${text}`;
  }
}

function firstOf(properties: UserProperties, name: string): string | undefined {
  const value = properties[name];
  return Array.isArray(value) ? value[0] : value;
}
