import { hash } from "node:crypto";
import type { DeadLetter } from "./dlq-store.ts";

/** In the hash, so that fingerprints of another way to make them are never taken for these. */
const VERSION = "a";
const DIGITS = 16;
const VARIABLE = "…";
/** An error's text is bounded where it is made; what is behind so much of it says nothing new of its kind. */
const MAX_LENGTH = 2_048;

/**
 * What varies from one failure to the next of the same kind, each alternative longest first. Linear: no two repetitions
 * in a row can match the same characters.
 */
const VARIES = new RegExp(
  [
    // Quoted strings.
    String.raw`"[^"]*"|'[^']*'|\`[^\`]*\``,
    // UUIDs.
    String.raw`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`,
    // Times.
    String.raw`\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?`,
    String.raw`\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b`,
    // Addresses: IPv4 with or without a port, IPv6 in brackets.
    String.raw`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?::\d{1,5})?\b`,
    String.raw`\[[0-9a-f:.]{2,45}\](?::\d{1,5})?`,
    // Hexadecimal of 8 digits and more.
    String.raw`\b(?:0x)?[0-9a-f]{8,}\b`,
    // Numbers, also inside of words such as m-17 and order_42.
    String.raw`[+-]?\d+(?:[.,]\d+)*`,
  ].join("|"),
  "gi",
);

/** The same for failures of one kind: of a route, a binding, a code, and a text in which only what varies differs. */
export function fingerprintOf({ routeId, bindingId, errorCode, lastError }: FingerprintedFailure): string {
  const text = lastError.slice(0, MAX_LENGTH).replaceAll(VARIES, VARIABLE);
  return hash("sha256", JSON.stringify([VERSION, routeId, bindingId, errorCode, text])).slice(0, DIGITS);
}

type FingerprintedFailure = Pick<DeadLetter, "routeId" | "bindingId" | "errorCode" | "lastError">;
