import { FLAG } from "./property-flags.ts";
import { FRAME, FRAME_OVERHEAD, FRAME_START } from "./frame-reader.ts";

/** A message's method and properties. */
export interface PublishFields {
  readonly exchange: string;
  readonly routingKey: string;
  readonly mandatory: boolean;
  readonly deliveryMode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly messageId: string;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly priority: number | undefined;
  readonly correlationId: string | undefined;
  readonly replyTo: string | undefined;
  readonly expiration: string | undefined;
  /** Seconds since 1970. */
  readonly timestamp: bigint | undefined;
  readonly type: string | undefined;
  readonly appId: string | undefined;
}

const { method: METHOD, header: HEADER, body: BODY, end: END } = FRAME;
const [CLASS_BASIC, METHOD_PUBLISH] = [60, 40];
const LONG_STRING = 0x53;
/** What precedes the properties in a header frame: class, weight and the payload's size as 64 bits; then their flags. */
const FLAGS_AT = FRAME_START + 12;
const MAX_UINT32 = 2 ** 32;

/** Holds headers, which are checked to have 64 KiB at most, and 4 KiB of all else: at most ten short strings. */
const scratch = Buffer.allocUnsafeSlow(65_536 + 4_096);

/**
 * A message as it goes over the wire: its method, its header and its payload in as many frames as it needs. Written once
 * into memory that is used again, because a buffer for each of these frames costs more than all else about a message.
 *
 * Its texts are checked already: short ones have no more than 255 bytes.
 */
export function publishFrames(channel: number, fields: PublishFields, payload: Buffer, frameMax: number): Buffer {
  const start = putHeader(putMethod(0, channel, fields), channel, fields, payload.length);
  const room = frameMax - FRAME_OVERHEAD;
  const frames = Buffer.allocUnsafe(start + payload.length + Math.ceil(payload.length / room) * FRAME_OVERHEAD);
  let at = scratch.copy(frames, 0, 0, start);
  for (let from = 0; from < payload.length; from += room) {
    const size = Math.min(room, payload.length - from);
    startFrame(frames, at, BODY, channel, size);
    payload.copy(frames, at + FRAME_START, from, from + size);
    at += FRAME_START + size;
    frames[at++] = END;
  }
  return frames;
}

function putMethod(start: number, channel: number, { exchange, routingKey, mandatory }: PublishFields): number {
  let at = start + FRAME_START;
  at = scratch.writeUInt16BE(CLASS_BASIC, at);
  at = scratch.writeUInt16BE(METHOD_PUBLISH, at);
  at = scratch.writeUInt16BE(0, at);
  at = putShort(at, exchange);
  at = putShort(at, routingKey);
  scratch[at++] = mandatory ? 1 : 0;
  return endFrame(start, at, METHOD, channel);
}

function putHeader(start: number, channel: number, fields: PublishFields, payloadSize: number): number {
  const { contentType, contentEncoding, priority, correlationId, replyTo, expiration, timestamp, type, appId } = fields;
  let at = start + FRAME_START;
  at = scratch.writeUInt16BE(CLASS_BASIC, at);
  at = scratch.writeUInt16BE(0, at);
  at = putLong(at, payloadSize);
  let flags = FLAG.headers + FLAG.deliveryMode + FLAG.messageId;
  at += 2;
  if (contentType !== undefined) {
    flags += FLAG.contentType;
    at = putShort(at, contentType);
  }
  if (contentEncoding !== undefined) {
    flags += FLAG.contentEncoding;
    at = putShort(at, contentEncoding);
  }
  at = putTable(at, fields.headers);
  scratch[at++] = fields.deliveryMode;
  if (priority !== undefined) {
    flags += FLAG.priority;
    scratch[at++] = priority;
  }
  if (correlationId !== undefined) {
    flags += FLAG.correlationId;
    at = putShort(at, correlationId);
  }
  if (replyTo !== undefined) {
    flags += FLAG.replyTo;
    at = putShort(at, replyTo);
  }
  if (expiration !== undefined) {
    flags += FLAG.expiration;
    at = putShort(at, expiration);
  }
  at = putShort(at, fields.messageId);
  if (timestamp !== undefined) {
    flags += FLAG.timestamp;
    at = scratch.writeBigUInt64BE(timestamp, at);
  }
  if (type !== undefined) {
    flags += FLAG.type;
    at = putShort(at, type);
  }
  if (appId !== undefined) {
    flags += FLAG.appId;
    at = putShort(at, appId);
  }
  scratch.writeUInt16BE(flags, start + FLAGS_AT);
  return endFrame(start, at, HEADER, channel);
}

function putTable(start: number, headers: PublishFields["headers"]): number {
  let at = start + 4;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    at = putShort(at, name);
    scratch[at++] = LONG_STRING;
    const size = scratch.write(value, at + 4);
    scratch.writeUInt32BE(size, at);
    at += 4 + size;
  }
  scratch.writeUInt32BE(at - start - 4, start);
  return at;
}

/** A text of at most 255 bytes, after its length. */
function putShort(at: number, text: string): number {
  const size = text === "" ? 0 : scratch.write(text, at + 1);
  scratch[at] = size;
  return at + 1 + size;
}

function putLong(at: number, value: number): number {
  scratch.writeUInt32BE(Math.floor(value / MAX_UINT32), at);
  return scratch.writeUInt32BE(value % MAX_UINT32, at + 4);
}

/** Ends the frame in the scratch that began at `start`. */
function endFrame(start: number, at: number, type: number, channel: number): number {
  startFrame(scratch, start, type, channel, at - start - FRAME_START);
  scratch[at] = END;
  return at + 1;
}

function startFrame(into: Buffer, at: number, type: number, channel: number, size: number): void {
  into[at] = type;
  into.writeUInt16BE(channel, at + 1);
  into.writeUInt32BE(size, at + 3);
}
