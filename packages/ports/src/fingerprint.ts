import { hash } from "node:crypto";
import type { DeadLetter } from "./dlq-store.ts";

/** In the hash, so that fingerprints of another way to make them are never taken for these. */
const VERSION = "b";
const DIGITS = 16;
const VARIABLE = "…";
/** An error's text is bounded where it is made; what is behind so much of it says nothing new of its kind. */
const MAX_LENGTH = 2_048;

const QUOTED = String.raw`"[^"]*"|'[^']*'|\`[^\`]*\``;
const TIMES = [
  String.raw`\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?`,
  String.raw`\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b`,
];
/** UUIDs, and hexadecimal of 8 digits and more, with what would be the sign of a number. */
const HEX = [
  String.raw`[+-]?(?<![a-z\d])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![a-z\d])`,
  String.raw`[+-]?(?<![a-z\d])(?:0x)?[0-9a-f]{8,}(?![a-z\d])`,
];
/** IPv4 with or without a port, IPv6 in brackets. */
const ADDRESSES = [
  String.raw`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d{1,5})?\b`,
  String.raw`\[[0-9a-f:.]{2,45}\](?::\d{1,5})?`,
];
/** A letter comes behind a digit, as in ids of base32, base36 and base62, ULIDs among them, and in few words. */
const MIXED = String.raw`[+-]?(?<![a-z\d])(?=[a-z]*\d+[a-z])[a-z\d]{16,}`;
/** Also inside of words such as m-17 and order_42. */
const NUMBERS = String.raw`[+-]?\d+(?:[.,]\d+)*`;
/** What has a letter and may be an id as a whole, which is looked at on its own. */
const LONG = String.raw`(?<long>(?<![\w-])(?=[\d_-]*[a-z])[\w-]{16,})`;

const any = (...patterns: readonly string[]): RegExp => new RegExp(patterns.join("|"), "gi");

/**
 * What varies from one failure to the next of the same kind, of two that begin alike the longer one first. Linear: no two
 * repetitions in a row can match the same characters, and what looks ahead does so once for each word.
 */
const VARIES = any(QUOTED, ...TIMES, LONG, ...ADDRESSES, ...HEX, NUMBERS);
const IN_LONG = any(...TIMES, ...HEX, MIXED, NUMBERS);
const HEX_IN_LONG = any(...HEX);
/** In words that capitals begin, or only of capitals, with digits behind: what people write, and no id of base64. */
const SPOKEN = /^(?:[A-Z]+|[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})*)?\d*$/;

function withoutIds(long: string): string {
  const isId = /\d/.test(long) && long.replaceAll(HEX_IN_LONG, "").split(/[-_]/).some(isBase64);
  return isId ? VARIABLE : long.replaceAll(IN_LONG, VARIABLE);
}

function isBase64(part: string): boolean {
  return /[a-z]/.test(part) && /[A-Z]/.test(part) && !SPOKEN.test(part);
}

/** The same for failures of one kind: of a route, a binding, a code, and a text in which only what varies differs. */
export function fingerprintOf({ routeId, bindingId, errorCode, lastError }: FingerprintedFailure): string {
  const text = lastError
    .slice(0, MAX_LENGTH)
    .replaceAll(VARIES, (found, long?: string) => (long === undefined ? VARIABLE : withoutIds(found)));
  return hash("sha256", JSON.stringify([VERSION, routeId, bindingId, errorCode, text])).slice(0, DIGITS);
}

type FingerprintedFailure = Pick<DeadLetter, "routeId" | "bindingId" | "errorCode" | "lastError">;

/** An id of any form for a text of the bridge: in quotation marks, of which it has none, so that it never makes a kind of its own. */
export function quotedId(id: string): string {
  return `"${id.replaceAll('"', "'")}"`;
}
