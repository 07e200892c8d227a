import { types } from "node:util";

/** Names the kind of a value, for errors about what it should have been. Reads nothing in it. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (types.isProxy(value)) return "a proxy";
  if (types.isAnyArrayBuffer(value)) return "an ArrayBuffer";
  if (types.isUint8Array(value)) return "a Uint8Array whose memory was given away";
  if (ArrayBuffer.isView(value)) return "a view of another kind";
  if (types.isDate(value)) return "a Date";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
