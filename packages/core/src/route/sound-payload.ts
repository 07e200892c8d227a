import { types } from "node:util";

/**
 * A payload as the engine may keep it: a view of memory that is its own length and nobody can take away or give away.
 * What is shared between threads, can be resized, or has methods of somebody's own is copied. `undefined` for what is no
 * Uint8Array, or whose memory was given away.
 */
export function soundPayload(payload: unknown): Uint8Array | undefined {
  if (!types.isUint8Array(payload)) return undefined;
  const { buffer } = payload;
  if (buffer instanceof ArrayBuffer && !buffer.resizable && hasItsOwnMethods(payload)) {
    return buffer.detached ? undefined : payload;
  }
  return copyOf(payload);
}

/** The bytes of something that is not a payload, so that it can be inspected: of a text, its UTF-8. */
export function bytesIn(value: unknown): Uint8Array {
  if (typeof value === "string") return Buffer.from(value);
  try {
    if (types.isAnyArrayBuffer(value)) return new Uint8Array(value).slice();
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
  } catch {
    // Its buffer is detached.
  }
  return new Uint8Array();
}

function hasItsOwnMethods(payload: Uint8Array): boolean {
  const prototype: unknown = Object.getPrototypeOf(payload);
  return prototype === Buffer.prototype || prototype === Uint8Array.prototype;
}

function copyOf(payload: Uint8Array): Uint8Array | undefined {
  try {
    return new Uint8Array(payload);
  } catch {
    return undefined;
  }
}
