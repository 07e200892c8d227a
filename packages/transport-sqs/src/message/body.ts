import { isUtf8 } from "node:buffer";
import { BridgeError } from "@bridge/ports";
import { isCarried } from "./text.ts";

/** How a body that is not the payload's own text stands for it. */
type Encoding = "base64" | "empty";

interface Body {
  readonly text: string;
  readonly encoding?: Encoding;
}

/** What stands in the place of an empty body, which SQS does not take. */
const EMPTY = "-";

/** Text stays text, so that others can read it. */
export function encodeBody(payload: Uint8Array): Body {
  if (payload.length === 0) return { text: EMPTY, encoding: "empty" };
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  if (isUtf8(bytes)) {
    const text = bytes.toString("utf8");
    if (isCarried(text)) return { text };
  }
  return { text: bytes.toString("base64"), encoding: "base64" };
}

/** @throws BridgeError INVALID_PAYLOAD when the body is not what its encoding says */
export function decodeBody(text: string, encoding: string | undefined): Uint8Array {
  switch (encoding) {
    case undefined:
      return Buffer.from(text, "utf8");
    case "empty":
      return new Uint8Array();
    case "base64":
      const bytes = Buffer.from(text, "base64");
      // What is no base64 is skipped.
      if (bytes.length === base64Bytes(text)) return bytes;
      throw new BridgeError("INVALID_PAYLOAD", "the body is said to be base64, and is not");
    default:
      throw new BridgeError("INVALID_PAYLOAD", "the body has an encoding that is not known");
  }
}

/** How many bytes a base64 text stands for, if it is one. */
function base64Bytes(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}
