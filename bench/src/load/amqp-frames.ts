/** The frames of AMQP 0-9-1 that a load generator needs, written by hand. @module */

export const [METHOD, HEADER, BODY] = [1, 2, 3] as const;
export const FRAME_HEAD = 7;
export const FRAME_END = 0xce;

/** Class and method, as they stand together at the beginning of a frame. */
export const METHODS = {
  connectionStart: 0x000a_000a,
  connectionStartOk: 0x000a_000b,
  connectionTune: 0x000a_001e,
  connectionTuneOk: 0x000a_001f,
  connectionOpen: 0x000a_0028,
  connectionOpenOk: 0x000a_0029,
  connectionClose: 0x000a_0032,
  channelOpen: 0x0014_000a,
  channelOpenOk: 0x0014_000b,
  channelClose: 0x0014_0028,
  basicQos: 0x003c_000a,
  basicQosOk: 0x003c_000b,
  basicConsume: 0x003c_0014,
  basicConsumeOk: 0x003c_0015,
  basicPublish: 0x003c_0028,
  basicDeliver: 0x003c_003c,
  basicAck: 0x003c_0050,
} as const;

const CLASS_BASIC = 60;
/** Says that of the properties there is a delivery mode only. */
const HAS_DELIVERY_MODE = 0x1000;
const PERSISTENT = 2;

export function method(channel: number, id: number, ...fields: readonly Buffer[]): Buffer {
  return frame(METHOD, channel, [u32(id), ...fields]);
}

/** What stands before the body of each message of `size` bytes to a queue: all of it but the body. */
export function publishHead(channel: number, queue: string, size: number): Buffer {
  const publish = method(channel, METHODS.basicPublish, u16(0), shortText(""), shortText(queue), u8(0));
  const properties = [u16(CLASS_BASIC), u16(0), u64(size), u16(HAS_DELIVERY_MODE), u8(PERSISTENT)];
  const bodyHead = Buffer.alloc(FRAME_HEAD);
  bodyHead.writeUInt8(BODY, 0);
  bodyHead.writeUInt16BE(channel, 1);
  bodyHead.writeUInt32BE(size, 3);
  return Buffer.concat([publish, frame(HEADER, channel, properties), bodyHead]);
}

export function shortText(value: string): Buffer {
  return Buffer.concat([u8(Buffer.byteLength(value)), Buffer.from(value)]);
}

export function longText(value: string): Buffer {
  return Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)]);
}

/** A table without anything in it. */
export const EMPTY_TABLE: Buffer = u32(0);

export function u8(value: number): Buffer {
  return Buffer.from([value]);
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

function frame(type: number, channel: number, parts: readonly Buffer[]): Buffer {
  const payload = Buffer.concat(parts);
  return Buffer.concat([u8(type), u16(channel), u32(payload.length), payload, u8(FRAME_END)]);
}
