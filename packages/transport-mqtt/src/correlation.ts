import { isUtf8 } from "node:buffer";

/** Marks correlation data that is not text. */
const MARK = "base64:";

/**
 * Correlation data, which is bytes, as the text of a correlation id: UTF-8 as it is, anything else as `base64:…`. Text
 * that begins so itself is written the same way, so that {@link encodeCorrelation} always gives the same bytes back.
 */
export function decodeCorrelation(data: Buffer): string {
  if (isUtf8(data)) {
    const text = data.toString("utf8");
    if (!text.startsWith(MARK)) return text;
  }
  return MARK + data.toString("base64");
}

/** The correlation data of a correlation id: the inverse of {@link decodeCorrelation}. */
export function encodeCorrelation(text: string): Buffer {
  if (text.startsWith(MARK)) {
    const encoded = text.slice(MARK.length);
    const data = Buffer.from(encoded, "base64");
    if (data.toString("base64") === encoded) return data;
  }
  return Buffer.from(text, "utf8");
}
