/**
 * What programs may write, and what each key means: made from the schemas that check it. Not edited by hand. @module
 */

/** Options of the processor `filter`. */
export interface FilterOptions {
  /** A condition, or a list of them: a message for which one of them does not hold is filtered out. */
  readonly keep?: ConditionOptions | readonly ConditionOptions[] | undefined;
  /** A condition, or a list of them: a message for which all of them hold is filtered out. */
  readonly drop?: ConditionOptions | readonly ConditionOptions[] | undefined;
  /** What becomes of a message when a condition needs something that cannot be read, such as a field of a payload that is not JSON: it fails as `INVALID_PAYLOAD`, passes, or is filtered out. Default: `fail` for the conditions of `keep`; those of `drop` do not hold then. */
  readonly on_unreadable?: "fail" | "keep" | "drop" | undefined;
}

/** Options of the processor `transform`. */
export interface TransformOptions {
  /** A JSONata expression for the new payload, which is written as JSON. Sets the content type to application/json. */
  readonly payload?: string | undefined;
  /** A JSONata expression for the new subject. */
  readonly subject?: string | undefined;
  /** A JSONata expression for the new content type. */
  readonly content_type?: string | undefined;
  /** JSONata expressions for headers, by name; one that gives nothing, or null, removes the header. */
  readonly headers?: { readonly [name: string]: string } | undefined;
  /** The most time for one message; above it the message fails as TIMEOUT. Default: 1s. */
  readonly timeout?: string | undefined;
  /** The largest payload, before and after; above it the message fails as PAYLOAD_TOO_LARGE. Default: 1048576. */
  readonly max_bytes?: number | undefined;
}

/** Options of the processor `schema`. */
export interface SchemaOptions {
  /** The JSON Schema (2020-12) that payloads must fit. */
  readonly schema?: { readonly [name: string]: unknown } | undefined;
  /** A JSON file with the schema, relative to the working directory; read when the bridge is built. */
  readonly file?: string | undefined;
  /** The most time for one message; above it the message fails as TIMEOUT. Default: 1s. */
  readonly timeout?: string | undefined;
  /** The largest payload, before and after; above it the message fails as PAYLOAD_TOO_LARGE. Default: 1048576. */
  readonly max_bytes?: number | undefined;
}

/** Options of the processor `circuit_breaker`. */
export interface CircuitBreakerOptions {
  /** How many failed sends in a row open the circuit. Default: 5. */
  readonly failures?: number | undefined;
  /** How long an open circuit refuses every send before it lets some through as a test. Default: 30s. */
  readonly open_for?: string | undefined;
  /** How many sends are let through as a test: when all succeed the circuit closes, when one fails it opens again. Default: 1. */
  readonly probes?: number | undefined;
  /** The part of a message that selects its circuit, such as header.tenant. Default: one circuit for each binding. */
  readonly key?: string | undefined;
  /** The most circuits with failures that are remembered; beyond that, the one that changed longest ago is forgotten. Default: 10000. */
  readonly max_keys?: number | undefined;
}

/** One test of a message. */
export type ConditionOptions = {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** Equal; not equal; a part of the text or an element of the list. */
  readonly op: "eq" | "ne" | "contains";
  /** What to compare with. */
  readonly value: string | number | boolean;
} | {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** The text begins with the value. */
  readonly op: "prefix";
  /** What to compare with. */
  readonly value: string;
} | {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** The regular expression, in the syntax of RE2 and with at most 4,096 characters, matches somewhere in the text. */
  readonly op: "regex";
  /** What to compare with. */
  readonly value: string;
} | {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** Greater or less; numbers as numbers, text as text. */
  readonly op: "gt" | "gte" | "lt" | "lte";
  /** What to compare with. */
  readonly value: string | number;
} | {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** Equal to one of a list. */
  readonly op: "in";
  /** What to compare with. */
  readonly value: readonly (string | number | boolean)[];
} | {
  /** What to look at: `subject`, `header.<name>`, or a path into a JSON payload such as `$.device.kind`. */
  readonly field: string;
  /** The field is there, or is not. */
  readonly op: "exists";
  /** `true`: the field must be there. `false`: it must not. Default: true. */
  readonly value?: boolean | undefined;
};
