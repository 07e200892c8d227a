/** Headers that stand for parts of an MQTT message which are not user properties. */
export const MQTT_HEADERS = {
  /** `"true"` on a message that the broker had kept; with `retain_as_published`, on each that was published so. Inbound only. */
  retain: "mqtt.retain",
  /** `"true"` on a message that the broker may have handed out before. Inbound only. */
  dup: "mqtt.dup",
  /** The response topic, both ways. */
  responseTopic: "mqtt.response-topic",
} as const;

/** User properties with a meaning of their own, both ways. */
export const PROPERTIES = {
  orderingKey: "ordering-key",
  dedupId: "dedup-id",
} as const;

const OWN: ReadonlySet<string> = new Set(Object.values(MQTT_HEADERS));

/** Whether a header describes the message itself, so that no user property may set it and none is made of it. */
export function isMqttHeader(name: string): boolean {
  return OWN.has(name);
}
