import { types } from "node:util";
import { type CodePayload, type EncodedPayload, encodePayload } from "@bridge/ports";

/** A payload that nobody changes afterwards, as a program may that uses its buffer again. @throws TypeError naming the field */
export function writtenPayload(value: unknown): EncodedPayload {
  const encoded = encodePayload(value as CodePayload);
  return encoded.payload === value ? { payload: Buffer.from(encoded.payload) } : encoded;
}

/** What is left of a payload that is none, so that it can be looked at. */
export function payloadLeft(value: unknown): Uint8Array {
  if (typeof value === "string") return Buffer.from(value);
  try {
    if (types.isAnyArrayBuffer(value)) return new Uint8Array(value).slice();
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
    if (typeof value === "bigint" || typeof value === "number") return Buffer.from(value.toString());
  } catch {
    // Its memory was given away.
  }
  return new Uint8Array();
}
