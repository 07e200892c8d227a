/** The longest string or binary value that a packet can hold, in bytes: its length is written in two of them. */
export const MAX_STRING_BYTES = 65_535;

/**
 * What a broker may treat as a malformed packet, and Mosquitto does, by dropping the connection and with it everything
 * else that is in flight: control characters, noncharacters, halves of surrogate pairs.
 */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/u;
const EACH_FORBIDDEN = new RegExp(FORBIDDEN, "gu");

/** Why `text` cannot be sent as an MQTT string, as the end of a sentence; `undefined` when it can. */
export function stringProblem(text: string): string | undefined {
  if (FORBIDDEN.test(text)) return "holds a control character or another one that MQTT does not allow";
  return isTooLong(text) ? `is longer than ${MAX_STRING_BYTES} bytes` : undefined;
}

export function isTooLong(text: string): boolean {
  // No character takes more than three bytes for each of its UTF-16 units, so most need not be measured.
  return text.length * 3 > MAX_STRING_BYTES && Buffer.byteLength(text) > MAX_STRING_BYTES;
}

/** `text` as MQTT can carry it: forbidden characters percent-encoded, halves of surrogate pairs replaced. */
export function escaped(text: string): string {
  return FORBIDDEN.test(text) ? text.toWellFormed().replaceAll(EACH_FORBIDDEN, encodeURIComponent) : text;
}
