/**
 * Building blocks for the option schemas of adapters. @module
 */
import * as v from "valibot";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
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

/** A duration as a string with a unit; its output is milliseconds. A bare number is refused. */
export function duration() {
  return v.pipe(
    v.string('a duration is a string with a unit, such as "250ms" or "1m30s"'),
    v.metadata({ pattern: DURATION.source }),
    v.check(
      (written) => parseDuration(written) !== undefined,
      'not a duration: write a number with a unit (ms, s, m, h, d), such as "250ms", "1m30s" or "30d", of at most 3650 days',
    ),
    v.transform((written) => parseDuration(written) ?? 0),
    v.metadata({ format: "duration" }),
  );
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

/** A string whose value is never shown: not in errors, logs, views or diffs. */
export function secret() {
  return v.pipe(v.string("expected a string"), v.metadata({ secret: true }));
}

/** Describes a field for the reference pages and the editors' schema. */
export function describe<const Schema extends v.GenericSchema>(schema: Schema, description: string) {
  return v.pipe(schema, v.description(description));
}

/** One value or a list of at least one; the output is a list. */
export function oneOrList<const Item extends v.GenericSchema>(item: Item) {
  return v.pipe(
    v.union([item, v.pipe(v.array(item), v.minLength(1, "must name at least one"))]),
    v.transform((value): readonly v.InferOutput<Item>[] => (Array.isArray(value) ? value : [value])),
  );
}
