import { ByteReader, Malformed } from "../codec/byte-reader.ts";
import type { Method } from "../codec/methods.ts";
import { type Properties, readProperties } from "../codec/read-properties.ts";

const CLASS_BASIC = 60;
const NOTHING = Buffer.alloc(0);

/** A message as it follows the method that announces it. */
export interface Content {
  readonly announced: Method;
  readonly properties: Properties;
  /** Bytes of the payload, as announced. */
  readonly size: number;
  /** `undefined` when it was not kept, because it was not wanted or is too large. */
  readonly payload: Buffer | undefined;
}

/** Puts the frames of one message together. What is not to be kept is let go as it comes. */
export class ContentAssembly {
  readonly #announced: Method;
  readonly #maxSize: number;
  #properties: Properties | undefined;
  #size = 0;
  #left = 0;
  #parts: Buffer[] = [];

  /** A payload of more than `maxSize` bytes is not kept. */
  constructor(announced: Method, maxSize: number) {
    this.#announced = announced;
    this.#maxSize = maxSize;
  }

  /** @throws Malformed */
  header(payload: Buffer): Content | undefined {
    if (this.#properties !== undefined) throw new Malformed("a second header of one message");
    const from = new ByteReader(payload);
    const [classId] = [from.uint16(), from.uint16()];
    if (classId !== CLASS_BASIC) throw new Malformed(`a message of the unknown class ${classId}`);
    this.#size = from.count();
    this.#left = this.#size;
    this.#properties = readProperties(from.slice(from.left));
    return this.#left === 0 ? this.#whole(this.#properties) : undefined;
  }

  /** @throws Malformed */
  body(payload: Buffer): Content | undefined {
    if (this.#properties === undefined) throw new Malformed("a payload before its header");
    if (payload.length > this.#left) throw new Malformed("more of a payload than was announced");
    this.#left -= payload.length;
    if (this.#size <= this.#maxSize && payload.length > 0) this.#parts.push(payload);
    return this.#left === 0 ? this.#whole(this.#properties) : undefined;
  }

  #whole(properties: Properties): Content {
    return { announced: this.#announced, properties, size: this.#size, payload: this.#payload() };
  }

  #payload(): Buffer | undefined {
    if (this.#size > this.#maxSize) return undefined;
    const [first = NOTHING] = this.#parts;
    return this.#parts.length > 1 ? Buffer.concat(this.#parts) : first;
  }
}
