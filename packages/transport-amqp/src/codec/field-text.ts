import { Decimal, FieldTable, type FieldValue, Timestamp } from "./field-value.ts";

/** The last second that RFC 3339 can write. What is later, and would be soon in milliseconds, is taken for those. */
const LAST_SECOND = 253_402_300_799n;
const LAST_MILLISECOND = LAST_SECOND * 1_000n + 999n;

/**
 * A value of a header as text, whatever its type is in AMQP: numbers and truth values as they are written in JSON, with
 * all their digits, times in RFC 3339, bytes and what is no UTF-8 as `base64:…`, nothing as the empty string, lists and
 * tables as JSON of the same.
 */
export function fieldText(value: FieldValue): string {
  if (typeof value === "string") return value;
  if (value === null) return "";
  return isText(value) ? textOf(value) : json(value);
}

/** A text, or what stands for bytes that are none. */
export function bytesText(text: string | Uint8Array): string {
  return typeof text === "string" ? text : textOf(text);
}

/** RFC 3339 of a number of seconds, or of milliseconds as some write them; the number itself when no calendar has it. */
export function timeText(seconds: bigint): string {
  if (seconds > LAST_MILLISECOND) return String(seconds);
  return new Date(Number(seconds) * (seconds > LAST_SECOND ? 1 : 1_000)).toISOString();
}

/** What JSON has no form for, or one that its readers round. */
function isText(value: FieldValue): value is Uint8Array | Timestamp | Decimal | bigint | number {
  if (typeof value === "object")
    return value instanceof Uint8Array || value instanceof Timestamp || value instanceof Decimal;
  return typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value));
}

function textOf(value: Uint8Array | Timestamp | Decimal | bigint | number): string {
  if (typeof value !== "object") return String(value);
  if (value instanceof Timestamp) return timeText(value.seconds);
  if (value instanceof Decimal) return decimalText(value);
  return `base64:${Buffer.from(value.buffer, value.byteOffset, value.length).toString("base64")}`;
}

function decimalText({ places, digits }: Decimal): string {
  const text = String(Math.abs(digits)).padStart(places + 1, "0");
  const sign = digits < 0 ? "-" : "";
  return places === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -places)}.${text.slice(-places)}`;
}

/** Written by hand: a table may have a name twice, and one that objects have a use for. */
function json(value: FieldValue): string {
  if (isText(value)) return JSON.stringify(textOf(value));
  if (value instanceof FieldTable)
    return `{${value.fields.map(([name, item]) => `${JSON.stringify(name)}:${json(item)}`).join(",")}}`;
  if (Array.isArray(value)) return `[${(value as readonly FieldValue[]).map(json).join(",")}]`;
  return Object.is(value, -0) ? "-0" : JSON.stringify(value);
}
