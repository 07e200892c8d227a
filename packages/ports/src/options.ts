/**
 * Building blocks for the option schemas of adapters. @module
 */
import * as v from "valibot";
import { durationPattern, UNITS } from "./duration-pattern.ts";
import type { PemRole } from "./tls/pem.ts";

export { bothOrNone, conditional, matching, PORT } from "./schema-words.ts";

const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;
/** Ten years: longer ones are slips, and their sum with a date might be none. */
const MAX_DURATION_MS = 3_650 * 86_400_000;

/** Milliseconds of a duration such as `250ms` or `1m30s`; `undefined` when it is none. */
export function parseDuration(written: string): number | undefined {
  if (!DURATION.test(written)) return undefined;
  let total = 0;
  for (const [, amount, unit] of written.matchAll(PART)) total += Number(amount) * (UNITS[unit ?? ""] ?? Number.NaN);
  return Number.isFinite(total) && total <= MAX_DURATION_MS ? Math.round(total) : undefined;
}

/** What a duration has to be. */
export interface DurationBounds {
  /** In milliseconds. Default: none. */
  readonly min?: number;
  /** In milliseconds. Default: ten years. */
  readonly max?: number;
  /** What is said of one that is shorter or longer. */
  readonly problem: string;
}

/**
 * A duration as a string with a unit; its output is milliseconds. A bare number is refused. With `bounds` published schemas
 * know them, too, which they do not of checks behind it.
 */
export function duration({ min = 0, max = MAX_DURATION_MS, problem }: DurationBounds = { problem: "" }) {
  return v.pipe(
    v.string('a duration is a string with a unit, such as "250ms" or "1m30s"'),
    v.metadata({ pattern: durationPattern(min, max) }),
    v.check(
      (written) => parseDuration(written) !== undefined,
      'not a duration: write a number with a unit (ms, s, m, h, d), such as "250ms", "1m30s" or "30d", of at most 3650 days',
    ),
    v.transform((written) => parseDuration(written) ?? 0),
    v.minValue(min, problem),
    v.maxValue(max, problem),
    v.metadata({ format: "duration" }),
  );
}

/** A duration that is longer than nothing; its output is milliseconds. */
export function positiveDuration() {
  return duration({ min: 1, problem: "must be longer than 0s" });
}

/** An integer between `min` and `max`, both included. */
export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER) {
  const range = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`;
  return v.pipe(
    v.number(`expected an integer ${range}`),
    v.integer(`expected an integer ${range}`),
    v.minValue(min, `expected an integer ${range}`),
    v.maxValue(max, `expected an integer ${range}`),
  );
}

/** A string that is not empty. */
export function text() {
  return v.pipe(v.string("expected a string"), v.nonEmpty("must not be empty"));
}

/** Whether a system could take it as a path: none takes a NUL, and half of a character would name another file. */
export function isPath(given: string): boolean {
  return !given.includes("\0") && given.isWellFormed();
}

/** A path that some system could take. Where it `mayBeEmpty`, that is the same as leaving it out. */
export function filePath({ mayBeEmpty = false } = {}) {
  return v.pipe(
    mayBeEmpty ? v.string("expected a string") : text(),
    v.metadata({ pattern: "^[^\\u0000]*$" }),
    v.check(isPath, "no file can have this path: write it without NUL and without half of a character"),
  );
}

/** The path of a file that has to be there. A check of the configuration on a machine looks whether it can be read. */
export function fileToRead(about: { readonly mayBeEmpty?: boolean } = {}) {
  return v.pipe(filePath(about), v.metadata({ file: "read" }));
}

/**
 * The path of a PEM file of TLS. A check of the configuration on a machine looks whether it holds what it has to; of a key,
 * whether it is that of the certificate which the option `certificate` beside it names.
 */
export function pemFile(role: PemRole, certificate?: string, about: { readonly mayBeEmpty?: boolean } = {}) {
  const pem: PemFile = { role, ...(certificate !== undefined && { certificate }) };
  return v.pipe(fileToRead(about), v.metadata({ pem }));
}

/** What {@link pemFile} says of a field. */
export interface PemFile {
  readonly role: PemRole;
  /** Of a key: the option beside it that names its certificate. */
  readonly certificate?: string;
}

/** The path of a file that is made when it is missing. A check of the configuration on a machine looks whether it could be. */
export function fileToKeep() {
  return v.pipe(filePath(), v.metadata({ file: "kept" }));
}

/** A string whose value is never shown: not in errors, logs, views or diffs. */
export function secret() {
  return v.pipe(v.string("expected a string"), v.metadata({ secret: true }));
}

const MIN_KEY_LENGTH = 16;
/** What the ends of a header value cannot carry, or a header not at all. */
const UNSENDABLE = /^\s|\s$|\p{Cc}/u;
/** The same for a pattern that any dialect reads. */
const CONTROL = "\\u0000-\\u001f\\u007f-\\u009f";

/** A key that callers send in a header. Where it `mayBeEmpty`, that is the same as leaving it out. */
export function apiKey({ mayBeEmpty = false } = {}) {
  const left = (key: string): boolean => mayBeEmpty && key === "";
  const key = `[^\\s${CONTROL}][^${CONTROL}]{${MIN_KEY_LENGTH - 2},}[^\\s${CONTROL}]`;
  return v.pipe(
    secret(),
    v.metadata({ pattern: mayBeEmpty ? `^(?:${key})?$` : `^${key}$` }),
    v.check(
      (given) => left(given) || lengthOf(given) >= MIN_KEY_LENGTH,
      `an API key has at least ${MIN_KEY_LENGTH} characters`,
    ),
    v.check(
      (given) => !UNSENDABLE.test(given),
      "an API key cannot be sent in a header with blanks at its ends, line breaks or other control characters: remove them",
    ),
  );
}

/** The characters of a text, as JSON Schema counts them: one of two UTF-16 units is one. */
export function lengthOf(given: string): number {
  return Array.from(given).length;
}

/** Describes a field for the reference pages and the editors' schema. */
export function describe<const Schema extends v.GenericSchema>(schema: Schema, description: string) {
  return v.pipe(schema, v.description(description));
}

/** One value or a list of at least one; the output is a list. `about` is metadata of the list. */
export function oneOrList<const Item extends v.GenericSchema>(
  item: Item,
  about: Readonly<Record<string, unknown>> = {},
) {
  return v.pipe(
    v.union([item, v.pipe(v.array(item), v.minLength(1, "must name at least one"), v.metadata(about))]),
    v.transform((value): readonly v.InferOutput<Item>[] => (Array.isArray(value) ? value : [value])),
  );
}
