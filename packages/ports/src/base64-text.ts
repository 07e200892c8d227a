/** Divisible by three, so that the text of each part goes on with the next. */
const PART_BYTES = 49_152;

/** Bytes that are a text in JSON, as base64; `jsonInSlices` writes it part by part. */
export class Base64Text {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  *parts(): Generator<string> {
    const { buffer, byteOffset, byteLength } = this.#bytes;
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    for (let at = 0; at < byteLength; at += PART_BYTES) yield bytes.toString("base64", at, at + PART_BYTES);
  }

  toJSON(): string {
    return [...this.parts()].join("");
  }
}
