import type { Envelope } from "./envelope.ts";
import { compilePattern } from "./pattern.ts";

/** One test of a message, as the schema has accepted it. */
export interface Condition {
  /** `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  readonly op: ConditionOperator;
  /** A boolean for `exists`, a list for `in`. */
  readonly value: ConditionValue | readonly ConditionValue[];
}

export type ConditionOperator =
  | "eq"
  | "ne"
  | "prefix"
  | "contains"
  | "regex"
  | "gt"
  | "lt"
  | "gte"
  | "lte"
  | "exists"
  | "in";

export type ConditionValue = string | number | boolean;

/** A message as conditions see it; parses the payload at most once, and only when a condition asks. */
export class Subject {
  readonly envelope: Envelope;
  #json: Parsed | undefined;

  constructor(envelope: Envelope) {
    this.envelope = envelope;
  }

  /** The payload as JSON; `undefined` when it is none, or too large to look into. */
  get json(): unknown {
    this.#json ??= parse(this.envelope.payload);
    return this.#json.value;
  }

  /** Why there is no {@link json}; `undefined` when there is. */
  get jsonProblem(): string | undefined {
    this.#json ??= parse(this.envelope.payload);
    return this.#json.problem;
  }
}

/** A payload above this is not looked into: parsing it would hold up every other message. */
const MAX_JSON_BYTES = 1_048_576;
const utf8 = new TextDecoder("utf-8", { fatal: true });

interface Parsed {
  readonly value?: unknown;
  readonly problem?: string;
}

function parse(payload: Uint8Array): Parsed {
  if (payload.length > MAX_JSON_BYTES) return { problem: `the payload has more than ${MAX_JSON_BYTES} bytes` };
  try {
    return { value: JSON.parse(utf8.decode(payload)) as unknown };
  } catch {
    return { problem: "the payload is not JSON in UTF-8" };
  }
}

/**
 * Compiles one condition. A field that the message does not have meets only `ne` and `exists: false`; so does a field of
 * a payload that cannot be read. A text that is too long for a regular expression does not match it.
 */
export function compileCondition(condition: Condition): (subject: Subject) => boolean {
  const holds = comparison(condition);
  const verdict = verdictOf(condition, holds);
  const ofNothing = holds(undefined) === true;
  return (subject) => verdict(subject) ?? ofNothing;
}

/** As {@link compileCondition}, for who has to tell what does not hold from what cannot be read: that is `undefined`. */
export function compileVerdict(condition: Condition): (subject: Subject) => boolean | undefined {
  return verdictOf(condition, comparison(condition));
}

/** A test of what a message has in a field; `undefined` when it cannot be told. */
type Comparison = (actual: unknown) => boolean | undefined;

function verdictOf({ field }: Condition, holds: Comparison): (subject: Subject) => boolean | undefined {
  const read = compileField(field);
  if (!field.startsWith("$")) return (subject) => holds(read(subject));
  return (subject) => (subject.jsonProblem === undefined ? holds(read(subject)) : undefined);
}

/** Compiles a field; the result returns what the message has there, `undefined` when it has nothing. */
export function compileField(field: string): (subject: Subject) => unknown {
  if (field === "subject") return (subject) => subject.envelope.subject;
  if (field.startsWith("header.")) {
    const name = field.slice("header.".length).toLowerCase();
    return (subject) => subject.envelope.headers[name];
  }
  const path = jsonPath(field);
  return (subject) => path.reduce<unknown>(step, subject.json);
}

function step(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

/** `$.devices[0].kind` → `devices`, `0`, `kind` */
function jsonPath(field: string): readonly string[] {
  return [...field.matchAll(/\.([^.[\]]+)|\[(\d+)\]/g)].map((match) => match[1] ?? match[2] ?? "");
}

function comparison({ op, value }: Condition): Comparison {
  switch (op) {
    case "exists":
      return (actual) => (actual !== undefined) === (value !== false);
    case "eq":
      return (actual) => same(actual, value);
    case "ne":
      return (actual) => !same(actual, value);
    case "in":
      return (actual) => Array.isArray(value) && value.some((one) => same(actual, one));
    case "prefix":
      return (actual) => typeof actual === "string" && actual.startsWith(String(value));
    case "contains":
      return (actual) => contains(actual, value);
    case "regex": {
      const matches = compilePattern(String(value));
      return (actual) => typeof actual === "string" && matches(actual);
    }
    case "gt":
      return ordered(value, (order) => order > 0);
    case "gte":
      return ordered(value, (order) => order >= 0);
    case "lt":
      return ordered(value, (order) => order < 0);
    case "lte":
      return ordered(value, (order) => order <= 0);
  }
}

/** Headers are text: a number or boolean in a rule also matches its text. */
function same(actual: unknown, wanted: Condition["value"]): boolean {
  return actual === wanted || (typeof actual === "string" && typeof wanted !== "string" && actual === String(wanted));
}

function contains(actual: unknown, wanted: Condition["value"]): boolean {
  if (typeof actual === "string") return actual.includes(String(wanted));
  return Array.isArray(actual) && actual.some((one) => same(one, wanted));
}

/** Numbers by value, also when the message has them as text; everything else as text. */
function ordered(wanted: Condition["value"], accept: (order: number) => boolean): (actual: unknown) => boolean {
  return (actual) => {
    const order = compare(actual, wanted as ConditionValue);
    return order !== undefined && accept(order);
  };
}

function compare(actual: unknown, wanted: ConditionValue): number | undefined {
  if (typeof wanted === "number") {
    const number = typeof actual === "string" && actual.trim() !== "" ? Number(actual) : actual;
    return typeof number === "number" && !Number.isNaN(number) ? number - wanted : undefined;
  }
  if (typeof actual !== "string" || typeof wanted !== "string") return undefined;
  return actual < wanted ? -1 : actual > wanted ? 1 : 0;
}
