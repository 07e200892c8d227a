import type { Envelope } from "./envelope.ts";

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
  #json: { readonly value: unknown } | undefined;

  constructor(envelope: Envelope) {
    this.envelope = envelope;
  }

  /** The payload as JSON; `undefined` when it is none, or too large to look into. */
  get json(): unknown {
    this.#json ??= { value: parse(this.envelope.payload) };
    return this.#json.value;
  }
}

/** A payload above this is not looked into: parsing it would hold up every other message. */
const MAX_JSON_BYTES = 1_048_576;
const utf8 = new TextDecoder("utf-8", { fatal: true });

function parse(payload: Uint8Array): unknown {
  if (payload.length > MAX_JSON_BYTES) return undefined;
  try {
    return JSON.parse(utf8.decode(payload)) as unknown;
  } catch {
    return undefined;
  }
}

/** Compiles one condition. A field that the message does not have meets only `ne` and `exists: false`. */
export function compileCondition(condition: Condition): (subject: Subject) => boolean {
  const read = compileField(condition.field);
  const holds = comparison(condition);
  return (subject) => holds(read(subject));
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

function comparison({ op, value }: Condition): (actual: unknown) => boolean {
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
      const pattern = new RegExp(String(value), "u");
      return (actual) => typeof actual === "string" && pattern.test(actual);
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
