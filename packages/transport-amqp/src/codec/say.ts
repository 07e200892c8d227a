import { MAX_SHORT_BYTES } from "../short-string.ts";
import { FRAME, FRAME_START } from "./frame-reader.ts";
import { FieldTable } from "./field-value.ts";
import { writeFieldTable } from "./write-field-table.ts";

/** The priority that consumers have anyway. Of all kinds of queues only a stream knows none, and refuses it. */
const NO_STREAM = new FieldTable([["x-priority", 0]]);
const REPLY_SUCCESS = 200;
const DURABLE = 2;
const MULTIPLE = 1;
const REQUEUE = 2;

interface Limits {
  readonly channelMax: number;
  readonly frameMax: number;
  readonly heartbeat: number;
}

/** What the bridge says to a broker, beside messages: whole frames. */
export const SAY = {
  greeting: Buffer.from("AMQP\0\0\u{9}\u{1}", "latin1"),
  heartbeat: frame(FRAME.heartbeat, 0),
  startOk: (properties: FieldTable, mechanism: string, response: string) =>
    method(0, 10, 11, writeFieldTable(properties), short(mechanism), long(response), short("en_US")),
  tuneOk: ({ channelMax, frameMax, heartbeat }: Limits) =>
    method(0, 10, 31, uint16(channelMax), uint32(frameMax), uint16(heartbeat)),
  open: (vhost: string) => method(0, 10, 40, short(vhost), short(""), Buffer.of(0)),
  close: () => method(0, 10, 50, ...leave()),
  closeOk: () => method(0, 10, 51),
  openChannel: (channel: number) => method(channel, 20, 10, short("")),
  closeChannel: (channel: number) => method(channel, 20, 40, ...leave()),
  closeChannelOk: (channel: number) => method(channel, 20, 41),
  declareQueue: (channel: number, queue: string, args: FieldTable) =>
    method(channel, 50, 10, uint16(0), short(queue), Buffer.of(DURABLE), writeFieldTable(args)),
  qos: (channel: number, prefetch: number) => method(channel, 60, 10, uint32(0), uint16(prefetch), Buffer.of(0)),
  /** Of a queue; a stream answers 406. */
  consume: (channel: number, queue: string) =>
    method(channel, 60, 20, uint16(0), short(queue), short(""), Buffer.of(0), writeFieldTable(NO_STREAM)),
  ack: (channel: number, tag: number, upTo: boolean) =>
    method(channel, 60, 80, uint64(tag), Buffer.of(upTo ? MULTIPLE : 0)),
  /** Back to its queue. */
  nack: (channel: number, tag: number) => method(channel, 60, 120, uint64(tag), Buffer.of(REQUEUE)),
  selectConfirms: (channel: number) => method(channel, 85, 10, Buffer.of(0)),
} as const;

function leave(): readonly Buffer[] {
  return [uint16(REPLY_SUCCESS), short("goodbye"), uint16(0), uint16(0)];
}

function method(channel: number, classId: number, methodId: number, ...args: readonly Buffer[]): Buffer {
  return frame(FRAME.method, channel, uint16(classId), uint16(methodId), ...args);
}

function frame(type: number, channel: number, ...parts: readonly Buffer[]): Buffer {
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  const start = Buffer.alloc(FRAME_START);
  start[0] = type;
  start.writeUInt16BE(channel, 1);
  start.writeUInt32BE(size, 3);
  return Buffer.concat([start, ...parts, Buffer.of(FRAME.end)]);
}

function uint16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** @throws RangeError for a text of more than 255 bytes, whose length could not be written */
function short(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_SHORT_BYTES)
    throw new RangeError(`a name has ${bytes.length} bytes, at most ${MAX_SHORT_BYTES}`);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

function long(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint32(bytes.length), bytes]);
}
