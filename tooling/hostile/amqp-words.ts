/** What the frames of AMQP 0-9-1 are made of. @module */

const END = 0xce;
const NOTHING = Buffer.alloc(0);

export function frame(type: number, channel: number, payload: Buffer): Buffer {
  return Buffer.concat([Buffer.of(type), uint16(channel), uint32(payload.length), payload, Buffer.of(END)]);
}

export function method(channel: number, classId: number, methodId: number, ...args: readonly Buffer[]): Buffer {
  return frame(1, channel, Buffer.concat([uint16(classId), uint16(methodId), ...args]));
}

export function uint16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

export function short(text: string): Buffer {
  return Buffer.concat([Buffer.of(Buffer.byteLength(text)), Buffer.from(text)]);
}

/** Anything after its length. */
export function long(content: string | Buffer = NOTHING): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([uint32(bytes.length), bytes]);
}
