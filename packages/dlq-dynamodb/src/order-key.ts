import type { DeadLetterOrder, DeadLetterPosition } from "@bridge/ports";

/** Later than any date can be, in milliseconds, and all integers up to there are told apart. */
const LATEST = Number.MAX_SAFE_INTEGER;
const DIGITS = String(LATEST).length;

/** Orders by the time of failure, then by id, as text. */
export function orderKey(failedAt: number, id: string): string {
  return `${atOrAfter(failedAt)}/${id}`;
}

/** When what has this key failed; 0 when that cannot be read. */
export function timeIn(key: string): number {
  return Number.parseInt(key, 10) || 0;
}

/** Before every key of this time or later, and after every earlier one. */
export function atOrAfter(time: number): string {
  const whole = Math.min(LATEST, Math.max(0, Math.ceil(time)));
  return String(whole).padStart(DIGITS, "0");
}

/**
 * Behind an entry, such that no page comes again. Somebody may have given it a key that is not of its time and id: then behind all
 * times that begin alike.
 */
export function positionOf(key: string, id: string, order: DeadLetterOrder): DeadLetterPosition {
  const failedAt = timeIn(key);
  if (orderKey(failedAt, id) === key) return { failedAt, id };
  const [digits = ""] = /^\d{0,16}/.exec(key) ?? [];
  const first = Number(digits.padEnd(DIGITS, "0"));
  return { failedAt: order === "oldest" ? first + 10 ** (DIGITS - digits.length) : first - 1, id };
}

/** Before every key that comes after this one, and after the key itself. */
export function justAfter(key: string): string {
  return `${key}\u0000`;
}
