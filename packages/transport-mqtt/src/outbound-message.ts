import { BridgeError, capitalised, type Envelope, isCarried, RESERVED } from "@bridge/ports";
import { encodeCorrelation } from "./correlation.ts";
import { isMqttHeader, MQTT_HEADERS, PROPERTIES } from "./header-names.ts";
import { escaped, isTooLong, MAX_STRING_BYTES, stringProblem } from "./mqtt-string.ts";
import type { PublishProperties } from "./publish-frame.ts";
import { topicProblem } from "./topic.ts";

/** The longest expiry that can be said: about 136 years. */
const MAX_EXPIRY_S = 0xffff_ffff;
const MAX_SHOWN_NAME = 100;

/**
 * The MQTT 5 properties that an envelope is sent with (the README's table, from left to right).
 *
 * @throws BridgeError of class rejected when something in it cannot be said in MQTT: sent anyway, it would cost the
 * connection. `MESSAGE_EXPIRED` when its time is over.
 */
export function publishProperties(envelope: Envelope, idProperty: string, now: () => number): PublishProperties {
  const { headers, correlationId, contentType, expiresAt } = envelope;
  return {
    contentType: contentType === "" ? undefined : checked("the content type", contentType),
    responseTopic: responseTopic(headers[MQTT_HEADERS.responseTopic]),
    // A receiver takes the id for it when there is none.
    correlationData: correlationId === envelope.id ? undefined : correlationData(correlationId),
    messageExpiry: expiresAt === undefined ? undefined : secondsLeft(expiresAt - now()),
    userProperties: userProperties(envelope, idProperty),
  };
}

function userProperties(envelope: Envelope, idProperty: string): readonly string[] {
  const { headers } = envelope;
  const properties = [idProperty, checked("the id", envelope.id)];
  const orderingKey = headers[RESERVED.orderingKey];
  if (orderingKey !== undefined) properties.push(PROPERTIES.orderingKey, checked("the ordering key", orderingKey));
  const dedupId = headers[RESERVED.dedupId];
  if (dedupId !== undefined) properties.push(PROPERTIES.dedupId, checked("the deduplication id", dedupId));
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined || !isCarried(name) || isMqttHeader(name)) continue;
    // Beside the property that acts, a header of its name takes another spelling: not every reader knows of repeated ones.
    const taken =
      name === idProperty ||
      (name === PROPERTIES.orderingKey && orderingKey !== undefined) ||
      (name === PROPERTIES.dedupId && dedupId !== undefined);
    properties.push(fitting(name, taken ? capitalised(name) : name), fitting(name, value));
  }
  return properties;
}

/** The name or the value of a header, as it can be carried. */
function fitting(name: string, text: string): string {
  const carried = escaped(text);
  if (!isTooLong(carried)) return carried;
  const shown = name.slice(0, MAX_SHOWN_NAME);
  throw new BridgeError("INVALID_PAYLOAD", `the header "${shown}" is longer than ${MAX_STRING_BYTES} bytes`);
}

function responseTopic(topic: string | undefined): string | undefined {
  if (topic === undefined) return undefined;
  const problem = topicProblem(topic);
  if (problem === undefined) return topic;
  throw new BridgeError("INVALID_PAYLOAD", `the header "${MQTT_HEADERS.responseTopic}" is no topic: it ${problem}`);
}

function correlationData(correlationId: string): Buffer {
  const data = encodeCorrelation(correlationId);
  if (data.length <= MAX_STRING_BYTES) return data;
  throw new BridgeError("INVALID_PAYLOAD", `the correlation id is longer than ${MAX_STRING_BYTES} bytes`);
}

function secondsLeft(ms: number): number {
  if (ms <= 0) throw new BridgeError("MESSAGE_EXPIRED", "the message's expiry had passed");
  return Math.min(Math.ceil(ms / 1_000), MAX_EXPIRY_S);
}

/** Identities and addresses are not altered to make them fit. */
function checked(what: string, text: string): string {
  const problem = stringProblem(text);
  if (problem === undefined) return text;
  throw new BridgeError("INVALID_PAYLOAD", `${what} ${problem}`);
}
