/**
 * Schemas of values that a caller sends, as queries and bodies have them. @module
 */
import { showable } from "@bridge/http-kit";
import { ERROR_CLASSES } from "@bridge/ports";
import { duration, type DurationBounds } from "@bridge/ports/options";
import * as v from "valibot";
import { list } from "./bounded-list.ts";
import { LIMITS } from "./limits.ts";
import { parseRfc3339 } from "./rfc3339.ts";

const BASE64_MESSAGE = "expected base64, padded, in the standard alphabet";

/** Its output is epoch milliseconds. */
export function timestamp(description: string) {
  const message = 'expected an RFC 3339 timestamp, such as "2026-01-31T08:00:00Z"';
  return v.pipe(
    v.string(message),
    v.description(description),
    v.metadata({ format: "date-time" }),
    showable(),
    v.check((value) => parseRfc3339(value) !== undefined, message),
    v.transform((value) => parseRfc3339(value) ?? Number.NaN),
  );
}

/** Its output is the bytes. */
export function base64(description: string) {
  return v.pipe(
    v.string(BASE64_MESSAGE),
    v.description(description),
    v.metadata({
      contentEncoding: "base64",
      pattern: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    }),
    v.check((value) => value.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(value), BASE64_MESSAGE),
    v.transform((value) => Uint8Array.from(Buffer.from(value, "base64"))),
  );
}

/** An object whose values are all strings. */
export function stringMap(description: string) {
  return v.pipe(
    v.custom<Readonly<Record<string, string>>>(isStringMap, "expected an object whose values are strings"),
    v.description(description),
    v.metadata({ type: "object", additionalProperties: { type: "string" } }),
  );
}

/** A string that is not empty, of at most `max` characters. */
export function text(description: string, max: number) {
  return v.pipe(
    v.string("expected a string"),
    v.description(description),
    v.nonEmpty("must not be empty"),
    v.maxLength(max, `has more than ${max} characters`),
  );
}

/** Of one line: none is a control character. */
const ONE_LINE = { forbidden: /\p{Cc}/u, pattern: String.raw`^\P{Cc}*[^\s\p{Cc}]\P{Cc}*$` };
/** Of several: a newline and a tab are the only ones. */
const LINES = {
  forbidden: /[^\P{Cc}\n\t]/u,
  pattern: String.raw`^(\P{Cc}|[\n\t])*[^\s\p{Cc}](\P{Cc}|[\n\t])*$`,
};

/**
 * What an operator writes for others to read: not only blanks, at most `max` characters, and none that does something else to a
 * terminal than to show.
 */
export function prose(description: string, max: number, { lines = false }: { readonly lines?: boolean } = {}) {
  const { forbidden, pattern } = lines ? LINES : ONE_LINE;
  return v.pipe(
    v.string("expected a string"),
    v.description(description),
    v.nonEmpty("must not be empty"),
    v.metadata({ maxLength: max, pattern }),
    ...inProse(max, forbidden),
  );
}

/** As {@link prose}; empty, it takes away what is there. */
export function erasableProse(description: string, max: number) {
  const pattern = `^$|${ONE_LINE.pattern}`;
  return v.pipe(
    v.string("expected a string"),
    v.description(description),
    v.metadata({ maxLength: max, pattern }),
    ...inProse(max, ONE_LINE.forbidden),
  );
}

function inProse(max: number, forbidden: RegExp) {
  return [
    v.check<string, string>((value) => !forbidden.test(value), "has control characters"),
    v.check<string, string>((value) => value === "" || value.trim() !== "", "has blanks only"),
    v.check<string, string>((value) => hasAtMost(value, max), `has more than ${max} characters`),
  ] as const;
}

/** A character may be two units of a string. */
function hasAtMost(value: string, max: number): boolean {
  return value.length <= max || (value.length <= 2 * max && Array.from(value).length <= max);
}

/** A query parameter of at most `max` characters: empty, it would pass for no filter at all. */
export function filterValue(description: string, max = Number.POSITIVE_INFINITY) {
  const value = v.pipe(
    v.string(),
    v.description(description),
    v.nonEmpty("is empty: give a value, or leave the parameter out"),
  );
  const bounded = v.pipe(value, v.maxLength(max, `has more than ${max} characters`));
  return v.optional(max === Number.POSITIVE_INFINITY ? value : bounded);
}

/** A value that may be empty: that asks for entries that have none. */
export function valueOrNone(description: string) {
  return v.pipe(
    v.string("expected a string"),
    v.description(description),
    v.maxLength(LIMITS.idLength, `has more than ${LIMITS.idLength} characters`),
  );
}

/** Of a kind of failures. */
export function fingerprintValue(description: string) {
  return v.pipe(
    v.string("expected a string"),
    v.description(description),
    showable(),
    v.regex(/^[0-9a-f]{16}$/, "expected 16 hexadecimal digits, in small letters"),
  );
}

/** One of {@link ERROR_CLASSES}: any other would match nothing without a word. */
export function category(description: string) {
  const known = ERROR_CLASSES.join(", ");
  return v.pipe(v.picklist(ERROR_CLASSES, `expected one of ${known}`), v.description(description));
}

/** The query parameters of a page of `things`. */
export function pageQuery(things: string) {
  const { listDefault, listMax, listOffsetMax } = LIMITS;
  return {
    limit: v.optional(
      queryInteger(`How many ${things}; more than ${listMax} count as that.`, 1, Infinity),
      `${listDefault}`,
    ),
    offset: v.optional(queryInteger(`How many ${things} to leave out first.`, 0, listOffsetMax), "0"),
  };
}

/** A duration in a body; its output is milliseconds. */
export function bodyDuration(description: string, bounds: DurationBounds) {
  return v.pipe(duration(bounds), showable(), v.description(description));
}

/** `NaN` for what is none. */
function msOf(written: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,6})(s|m)$/.exec(written) ?? [];
  return digits === "" ? Number.NaN : Number(digits) * (unit === "m" ? 60_000 : 1_000);
}

/** A duration in a query, such as `90s` or `5m`, of at most `maxMs`; its output is milliseconds. */
export function queryDuration(description: string, maxMs: number) {
  const message = `expected a duration with a unit, such as "90s" or "5m", of 1s to ${maxMs / 60_000}m`;
  return v.pipe(
    v.string(),
    v.description(description),
    v.metadata({ pattern: "^[0-9]{1,6}(s|m)$" }),
    showable(),
    v.check((value) => msOf(value) >= 1_000 && msOf(value) <= maxMs, message),
    v.transform(msOf),
  );
}

/** Between 1 and `max` ids. An empty one is an id: somebody may have given it to an entry, which has to be named to be deleted. */
export function ids(of: string, max: number) {
  const id = v.pipe(
    v.string("expected a string"),
    v.maxLength(LIMITS.idLength, `has more than ${LIMITS.idLength} characters`),
  );
  return v.pipe(
    list(id, max, { expected: "expected a list of ids", tooMany: `has more than ${max} ids` }),
    v.description(`Ids of ${of}; one that is given twice counts once.`),
    v.minLength(1, "must not be empty"),
  );
}

/** An integer in a query, from `min` to `max`. */
export function queryInteger(description: string, min: number, max: number) {
  const message =
    max === Infinity ? `expected an integer of at least ${min}` : `expected an integer from ${min} to ${max}`;
  return v.pipe(
    v.string(),
    v.description(description),
    v.metadata({ type: "integer", minimum: min, ...(max !== Infinity && { maximum: max }) }),
    showable(),
    v.check((digits) => /^\d+$/.test(digits) && Number(digits) >= min && Number(digits) <= max, message),
    v.transform(Number),
  );
}

function isStringMap(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((item) => typeof item === "string");
}
