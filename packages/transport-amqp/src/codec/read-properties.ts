import { BridgeError } from "@bridge/ports";
import { ByteReader, Malformed } from "./byte-reader.ts";
import type { FieldTable } from "./field-value.ts";
import { bytesText } from "./field-text.ts";
import { FLAG } from "./property-flags.ts";
import { readFieldTable } from "./read-field-table.ts";

/** What is said of a message beside its payload. */
export interface Properties {
  contentType?: string;
  contentEncoding?: string;
  headers?: FieldTable;
  deliveryMode?: number;
  priority?: number;
  correlationId?: string;
  replyTo?: string;
  expiration?: string;
  messageId?: string;
  /** Seconds since 1970. */
  timestamp?: bigint;
  type?: string;
  userId?: string;
  appId?: string;
  /** Why it could not be read whole; what could be is there. */
  problem?: BridgeError;
}

/** No property of the protocol has these bits. */
const UNKNOWN_FLAGS = 0x3;

/** Reads the properties of a message, their flags first. What cannot be read is the message's trouble alone. */
export function readProperties(bytes: Buffer): Properties {
  const properties: Properties = {};
  const from = new ByteReader(bytes);
  try {
    const flags = from.uint16();
    if ((flags & UNKNOWN_FLAGS) !== 0) throw new Malformed(`are of an unknown kind (flags ${flags})`);
    readInto(properties, flags, from);
    if (from.left > 0) throw new Malformed(`are followed by ${from.left} bytes that say nothing`);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    properties.problem ??= undecodable("the properties of the message cannot be read: they", error);
  }
  return properties;
}

function readInto(properties: Properties, flags: number, from: ByteReader): void {
  if (flags & FLAG.contentType) properties.contentType = shortText(from);
  if (flags & FLAG.contentEncoding) properties.contentEncoding = shortText(from);
  if (flags & FLAG.headers) readHeaders(properties, from);
  if (flags & FLAG.deliveryMode) properties.deliveryMode = from.uint8();
  if (flags & FLAG.priority) properties.priority = from.uint8();
  if (flags & FLAG.correlationId) properties.correlationId = shortText(from);
  if (flags & FLAG.replyTo) properties.replyTo = shortText(from);
  if (flags & FLAG.expiration) properties.expiration = shortText(from);
  if (flags & FLAG.messageId) properties.messageId = shortText(from);
  if (flags & FLAG.timestamp) properties.timestamp = from.uint64();
  if (flags & FLAG.type) properties.type = shortText(from);
  if (flags & FLAG.userId) properties.userId = shortText(from);
  if (flags & FLAG.appId) properties.appId = shortText(from);
  if (flags & FLAG.clusterId) shortText(from);
}

/** A table that cannot be read has a length all the same, and what follows it is read. */
function readHeaders(properties: Properties, from: ByteReader): void {
  const table = from.part(from.uint32());
  try {
    properties.headers = readFieldTable(table);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    properties.problem = undecodable("the headers of the message cannot be read: their table", error);
  }
}

/** A text of at most 255 bytes. */
function shortText(from: ByteReader): string {
  return bytesText(from.text(from.uint8()));
}

function undecodable(what: string, { message }: Malformed): BridgeError {
  return new BridgeError("INVALID_PAYLOAD", `${what} ${message}`);
}
