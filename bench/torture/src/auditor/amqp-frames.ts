const FRAME = { method: 1, header: 2, body: 3 } as const;
/** Type, channel and length come before what a frame holds, and one octet after it. */
const HEAD_BYTES = 7;
const GREETING = Buffer.from("AMQP");
const GREETING_BYTES = 8;
/** Class, weight and the length of the body, at the beginning of a header frame. */
const BODY_SIZE_AT = 4;

/** What AMQP 0-9-1 calls the methods that a tap understands: class and method in one number, as they follow each other. */
export const METHOD = {
  channelOpen: 0x0014_000a,
  channelClose: 0x0014_0028,
  publish: 0x003c_0028,
  return: 0x003c_0032,
  deliver: 0x003c_003c,
  ack: 0x003c_0050,
  reject: 0x003c_005a,
  nack: 0x003c_0078,
} as const;

/** These are followed by a message. */
const WITH_CONTENT: ReadonlySet<number> = new Set([METHOD.publish, METHOD.return, METHOD.deliver]);

export interface Method {
  readonly channel: number;
  readonly method: number;
  readonly args: Buffer;
  /** Of the message that came with it. */
  readonly body: Buffer | undefined;
}

/** A message of which not everything has come yet. */
interface Begun {
  readonly method: number;
  readonly args: Buffer;
  readonly parts: Buffer[];
  left: number | undefined;
}

/** Reads one direction of a connection in AMQP 0-9-1. */
export class AmqpReader {
  readonly #onMethod: (method: Method) => void;
  readonly #begun = new Map<number, Begun>();
  #rest: Buffer = Buffer.alloc(0);

  constructor(onMethod: (method: Method) => void) {
    this.#onMethod = onMethod;
  }

  read(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    for (;;) {
      const size = this.#nextSize();
      if (size === undefined || this.#rest.length < size) return;
      const frame = this.#rest.subarray(0, size);
      this.#rest = this.#rest.subarray(size);
      if (!frame.subarray(0, GREETING.length).equals(GREETING)) this.#take(frame);
    }
  }

  /** How long the next frame is, as soon as that can be told. */
  #nextSize(): number | undefined {
    if (this.#rest.length < HEAD_BYTES) return undefined;
    if (this.#rest.subarray(0, GREETING.length).equals(GREETING)) return GREETING_BYTES;
    return HEAD_BYTES + this.#rest.readUInt32BE(3) + 1;
  }

  #take(frame: Buffer): void {
    const channel = frame.readUInt16BE(1);
    const held = frame.subarray(HEAD_BYTES, -1);
    switch (frame.readUInt8(0)) {
      case FRAME.method:
        this.#begin(channel, held.readUInt32BE(0), held.subarray(4));
        return;
      case FRAME.header:
        this.#add(channel, Number(held.readBigUInt64BE(BODY_SIZE_AT)), undefined);
        return;
      case FRAME.body:
        this.#add(channel, undefined, held);
    }
  }

  #begin(channel: number, method: number, args: Buffer): void {
    if (WITH_CONTENT.has(method)) this.#begun.set(channel, { method, args, parts: [], left: undefined });
    else this.#onMethod({ channel, method, args, body: undefined });
  }

  #add(channel: number, size: number | undefined, part: Buffer | undefined): void {
    const begun = this.#begun.get(channel);
    if (begun === undefined) return;
    if (part !== undefined) begun.parts.push(part);
    begun.left = (size ?? begun.left ?? 0) - (part?.length ?? 0);
    if (begun.left > 0) return;
    this.#begun.delete(channel);
    const { method, args, parts } = begun;
    this.#onMethod({ channel, method, args, body: Buffer.concat(parts) });
  }
}
