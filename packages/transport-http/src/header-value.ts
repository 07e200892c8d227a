import { isUtf8 } from "node:buffer";

const ASCII = /^[\t -~]*$/;
/** In a string of bytes: the control characters, which no header can hold. */
const FORBIDDEN = /[^\t -~\u0080-\u00ff]/g;
const WHITE = new Set(["\t", " "]);

/**
 * Text as a header carries it: its UTF-8 bytes, one character each. Control characters, which HTTP has no way to carry,
 * are percent-encoded; so nothing in `text` can end the header.
 */
export function toHeaderValue(text: string): string {
  const value = ASCII.test(text)
    ? text
    : Buffer.from(text, "utf8").toString("latin1").replace(FORBIDDEN, encodeURIComponent);
  return withoutWhiteEnds(value);
}

/** White space around a value is no part of it (RFC 9110 §5.5), and not every reader takes it off. */
function withoutWhiteEnds(value: string): string {
  let [begin, end] = [0, value.length];
  while (begin < end && WHITE.has(value.charAt(begin))) begin++;
  while (end > begin && WHITE.has(value.charAt(end - 1))) end--;
  return value.slice(begin, end);
}

/** The text of a received header: its bytes as UTF-8 when they are that, else as Latin-1. */
export function fromHeaderValue(value: string): string {
  if (ASCII.test(value)) return value;
  const bytes = Buffer.from(value, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : value;
}
