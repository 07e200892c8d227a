const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** The first and the last moment that RFC 3339 can write. */
const FIRST_MS = -62_167_219_200_000;
const LAST_MS = 253_402_300_799_999;

/** Most times that are written one after another lie in one second, and what they share costs most. */
let last = { second: Number.NaN, text: "" };

/**
 * Epoch milliseconds as an RFC 3339 timestamp in UTC. What lies beyond the years 0000 to 9999 is told as their first or last moment,
 * and what is no number as the first: a store may hold what somebody has changed, and one odd time must not hide the others.
 */
export function formatTimestamp(epochMs: number): string {
  const written = Math.trunc(Math.min(Math.max(Number.isNaN(epochMs) ? FIRST_MS : epochMs, FIRST_MS), LAST_MS));
  const second = Math.floor(written / 1_000);
  if (second !== last.second) {
    // oxlint-disable-next-line no-restricted-globals -- of a time that is given
    last = { second, text: new Date(second * 1_000).toISOString().slice(0, -"000Z".length) };
  }
  return `${last.text}${String(written - second * 1_000).padStart(3, "0")}Z`;
}

/** Epoch milliseconds of an RFC 3339 timestamp, rounded down; `undefined` when it is none. */
export function parseTimestamp(text: string): number | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const fraction = Number(match[7] ?? 0);
  const [offsetHour, offsetMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  // A leap second (:60) is a valid time; here it is the first moment of the next minute.
  if (hour > 23 || minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return undefined;
  // oxlint-disable-next-line no-restricted-globals -- of a time that is given
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  const local = date.getTime() + ((hour * 60 + minute) * 60 + second) * 1_000 + Math.floor(fraction * 1_000);
  const offset = (offsetHour * 60 + offsetMinute) * 60_000;
  return match[8] === "-" ? local + offset : local - offset;
}
