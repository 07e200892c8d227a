/**
 * A value of a header as text, whatever its type is in AMQP: numbers and truth values as they are written in JSON, times in
 * RFC 3339, bytes as `base64:…`, nothing as the empty string, lists and tables as JSON of the same.
 */
export function headerText(value: unknown): string {
  if (typeof value === "string") return value;
  const plain = plainOf(value);
  if (plain === null) return "";
  return typeof plain === "string" ? plain : JSON.stringify(plain);
}

function plainOf(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value !== "object" || value === null) return value ?? null;
  if (Buffer.isBuffer(value)) return `base64:${value.toString("base64")}`;
  if (Array.isArray(value)) return value.map(plainOf);
  // The library's way to write types that JavaScript does not have.
  const { "!": type, value: inner } = value as Readonly<Record<string, unknown>>;
  if (type === "timestamp" && typeof inner === "number") return timeOf(inner);
  if (type === "decimal") return decimalOf(inner as Decimal);
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainOf(item)]));
}

interface Decimal {
  readonly places: number;
  readonly digits: number;
}

function decimalOf({ places, digits }: Decimal): string {
  const text = String(digits).padStart(places + 1, "0");
  return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
}

/** RFC 3339 of a number of seconds; the number itself when no calendar has it. */
export function timeOf(seconds: number): string {
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime()) ? String(seconds) : date.toISOString();
}
