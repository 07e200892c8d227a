/** What a PUBLISH says besides its payload. Strings have been checked: each fits into its packet field. */
export interface PublishHead {
  readonly topic: string;
  readonly qos: 0 | 1;
  readonly retain: boolean;
  /** MQTT 5 only; absent on 3.1.1, which has no properties at all. */
  readonly properties?: PublishProperties | undefined;
}

export interface PublishProperties {
  readonly contentType?: string | undefined;
  readonly responseTopic?: string | undefined;
  readonly correlationData?: Buffer | undefined;
  /** Seconds. */
  readonly messageExpiry?: number | undefined;
  /** Name, value, name, value. */
  readonly userProperties: readonly string[];
}

/** A PUBLISH, encoded. */
export interface PublishFrame {
  /** The bytes to write, one after the other. */
  readonly chunks: readonly Uint8Array[];
  /** Of all chunks together: what a broker's Maximum Packet Size is about. */
  readonly size: number;
  /** Where in the first chunk the packet identifier goes; -1 at QoS 0. */
  readonly packetIdAt: number;
}

/** The largest packet that the protocol knows. */
export const MAX_PACKET_SIZE = 268_435_460;

const PUBLISH = 0x30;
const QOS_1 = 0x02;
const RETAIN = 0x01;
const PROPERTY = {
  messageExpiry: 0x02,
  contentType: 0x03,
  responseTopic: 0x08,
  correlationData: 0x09,
  user: 0x26,
} as const;

/** Room for a fixed header, and for a length that is known only when all is written. */
const MAX_VARINT = 4;
const FIXED_HEADER = 1 + MAX_VARINT;
/** Larger payloads are written from where they are; smaller ones are cheaper to copy than to write on their own. */
const COPIED_PAYLOAD = 8_192;
/** A UTF-16 unit takes at most this many bytes. */
const MAX_BYTES_PER_UNIT = 3;

let scratch = Buffer.allocUnsafe(4_096);

/**
 * Encodes a PUBLISH in one go. The codec of the client library writes each field on its own and keeps a deep copy of the
 * message to repeat it on the next connection, which costs more than all else that a message needs here.
 */
export function encodePublish(head: PublishHead, payload: Uint8Array): PublishFrame {
  reserve(head);
  let at = writeString(FIXED_HEADER, head.topic);
  const packetId = at;
  if (head.qos > 0) at += 2;
  if (head.properties !== undefined) at = writeProperties(at, head.properties);

  const remaining = at - FIXED_HEADER + payload.length;
  const start = FIXED_HEADER - 1 - varintLength(remaining);
  scratch[start] = PUBLISH | (head.qos > 0 ? QOS_1 : 0) | (head.retain ? RETAIN : 0);
  writeVarint(start + 1, remaining);

  const headLength = at - start;
  const copied = payload.length <= COPIED_PAYLOAD;
  const first = Buffer.allocUnsafe(headLength + (copied ? payload.length : 0));
  scratch.copy(first, 0, start, at);
  if (copied) first.set(payload, headLength);
  return {
    chunks: copied ? [first] : [first, payload],
    size: headLength + payload.length,
    packetIdAt: head.qos > 0 ? packetId - start : -1,
  };
}

/** Makes the scratch buffer large enough for everything but the payload. */
function reserve({ topic, properties }: PublishHead): void {
  let units = topic.length;
  let bytes = 64;
  if (properties !== undefined) {
    units += (properties.contentType?.length ?? 0) + (properties.responseTopic?.length ?? 0);
    for (const text of properties.userProperties) units += text.length;
    bytes += properties.userProperties.length * 3 + (properties.correlationData?.length ?? 0);
  }
  const needed = bytes + units * MAX_BYTES_PER_UNIT;
  if (needed > scratch.length) scratch = Buffer.allocUnsafe(needed * 2);
}

function writeProperties(at: number, properties: PublishProperties): number {
  const begin = at + MAX_VARINT;
  let end = begin;
  if (properties.messageExpiry !== undefined) {
    scratch[end] = PROPERTY.messageExpiry;
    end = scratch.writeUInt32BE(properties.messageExpiry, end + 1);
  }
  if (properties.contentType !== undefined) end = writeText(end, PROPERTY.contentType, properties.contentType);
  if (properties.responseTopic !== undefined) end = writeText(end, PROPERTY.responseTopic, properties.responseTopic);
  if (properties.correlationData !== undefined) {
    scratch[end] = PROPERTY.correlationData;
    end = scratch.writeUInt16BE(properties.correlationData.length, end + 1);
    end += properties.correlationData.copy(scratch, end);
  }
  const { userProperties } = properties;
  for (let i = 0; i + 1 < userProperties.length; i += 2) {
    end = writeText(end, PROPERTY.user, userProperties[i] ?? "");
    end = writeString(end, userProperties[i + 1] ?? "");
  }
  // The length comes before what it measures: it is written now, and the rest moved up behind it.
  const moved = writeVarint(at, end - begin);
  scratch.copyWithin(moved, begin, end);
  return moved + end - begin;
}

function writeText(at: number, property: number, text: string): number {
  scratch[at] = property;
  return writeString(at + 1, text);
}

function writeString(at: number, text: string): number {
  const length = scratch.write(text, at + 2, "utf8");
  scratch.writeUInt16BE(length, at);
  return at + 2 + length;
}

function writeVarint(at: number, value: number): number {
  let rest = value;
  let end = at;
  do {
    const digit = rest % 128;
    rest = Math.floor(rest / 128);
    scratch[end++] = rest > 0 ? digit | 0x80 : digit;
  } while (rest > 0);
  return end;
}

function varintLength(value: number): number {
  return value < 128 ? 1 : value < 16_384 ? 2 : value < 2_097_152 ? 3 : 4;
}
