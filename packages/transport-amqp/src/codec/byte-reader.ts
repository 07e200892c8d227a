import { isUtf8 } from "node:buffer";

/** Bytes that do not say what they should. The message is the end of a sentence about them. */
export class Malformed extends Error {}

const REPLACEMENT = "\u{fffd}";

/** Reads what the protocol is made of, and nothing beyond its end. */
export class ByteReader {
  readonly bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.#at = start;
    this.#end = end;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  uint8(): number {
    return this.bytes[this.#take(1)] as number;
  }

  uint16(): number {
    return this.bytes.readUInt16BE(this.#take(2));
  }

  uint32(): number {
    return this.bytes.readUInt32BE(this.#take(4));
  }

  uint64(): bigint {
    return this.bytes.readBigUInt64BE(this.#take(8));
  }

  /** 64 bits that count something, which is never so much that a number could not tell it. */
  count(): number {
    const count = Number(this.uint64());
    if (!Number.isSafeInteger(count)) throw new Malformed(`counts to ${count}`);
    return count;
  }

  int8(): number {
    return this.bytes.readInt8(this.#take(1));
  }

  int16(): number {
    return this.bytes.readInt16BE(this.#take(2));
  }

  int32(): number {
    return this.bytes.readInt32BE(this.#take(4));
  }

  int64(): bigint {
    return this.bytes.readBigInt64BE(this.#take(8));
  }

  float(): number {
    return this.bytes.readFloatBE(this.#take(4));
  }

  double(): number {
    return this.bytes.readDoubleBE(this.#take(8));
  }

  /** A view of the next `size` bytes. */
  slice(size: number): Buffer {
    const at = this.#take(size);
    return this.bytes.subarray(at, at + size);
  }

  /** A reader of the next `size` bytes only. */
  part(size: number): ByteReader {
    const at = this.#take(size);
    return new ByteReader(this.bytes, at, at + size);
  }

  /** The next `size` bytes as text; as they are when they are no UTF-8. */
  text(size: number): string | Buffer {
    const at = this.#take(size);
    const text = this.bytes.toString("utf8", at, at + size);
    // Only then may something have been replaced.
    if (!text.includes(REPLACEMENT)) return text;
    const bytes = this.bytes.subarray(at, at + size);
    return isUtf8(bytes) ? text : bytes;
  }

  #take(size: number): number {
    const at = this.#at;
    if (size > this.#end - at) throw new Malformed(`ends ${size - (this.#end - at)} bytes too early`);
    this.#at = at + size;
    return at;
  }
}
