/**
 * For tests of servers: requests to everything that an OpenAPI document describes, right, nearly right and hostile. The
 * document is made from the schemas that validate, so an endpoint is attacked as soon as there is one. @module
 */
import * as fc from "fast-check";

interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** As much of an OpenAPI document as has to be understood here. */
export interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export interface HostileRequest {
  readonly method: string;
  /** With its query. */
  readonly target: string;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  /** The statuses that the document names. */
  readonly documented: readonly number[];
}

const LOOK_ALIKES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "x-bridge.dedup-id",
  "X-BRIDGE.x",
  "ｘ-bridge.x",
];
const WORDS = [
  "",
  " ",
  "\0",
  "../..",
  "%2e%2e/",
  "\r\nX-Injected: 1",
  "null",
  "[REDACTED]",
  "${env:HOME}",
  "1e309",
  "💥",
  "\u202e",
];
/** One in so many parts of what is nearly right is not what its schema says. */
const RIGHT_TO_WRONG = 10;

const word = fc.oneof(fc.constantFrom(...WORDS, ...LOOK_ALIKES), fc.string({ unit: "binary", maxLength: 40 }));
const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e308, Number.MAX_SAFE_INTEGER + 1),
    word,
    fc.array(tie("value"), { maxLength: 5 }),
    objectOf(fc.array(fc.tuple(word, tie("value")), { maxLength: 5 })),
  ),
})).value;

/** Requests with nothing but a place to send them to; keys and other headers are the caller's. */
export function hostileRequests(document: Described): fc.Arbitrary<HostileRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => requestsTo(document, path, method, operation)),
  );
  return fc.oneof(...operations);
}

function requestsTo(document: Described, path: string, method: string, operation: Operation) {
  const { parameters = [], requestBody, responses } = operation;
  const named = (place: string) =>
    fc.tuple(
      ...parameters
        .filter((parameter) => parameter.in === place)
        .map(({ name, schema }) => fc.tuple(fc.constant(name), doubtful(document, schema))),
    );
  const schema = requestBody?.content["application/json"]?.schema;
  const body = schema === undefined ? fc.constant(undefined) : bodyOf(document, schema);
  const more = fc.array(fc.tuple(word, word), { maxLength: 2 });
  return fc
    .record({
      inPath: named("path"),
      inQuery: fc.subarray(parameters.map(({ name }) => name)),
      query: named("query"),
      more,
      body,
    })
    .map(({ inPath, inQuery, query, more: extra, body: content }): HostileRequest => {
      const values = new Map(inPath.map(([name, value]) => [name, String(value)]));
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(values.get(name) ?? name));
      const pairs: readonly (readonly [string, unknown])[] = [
        ...query.filter(([name]) => inQuery.includes(name)),
        ...extra,
      ];
      const search = new URLSearchParams(
        pairs.map(([name, value]): [string, string] => [name, String(value).toWellFormed()]),
      );
      return {
        method: method.toUpperCase(),
        target: `${filled}?${search.toString()}`,
        body: content,
        documented: Object.keys(responses).map(Number),
      };
    });
}

function bodyOf(document: Described, schema: Schema) {
  return fc.oneof(
    arbitrary(document, schema, false).map(json),
    { weight: 3, arbitrary: arbitrary(document, schema, true).map(json) },
    anything.map(json),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Uint8Array.from(bytes)),
  );
}

function json(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

function doubtful(document: Described, schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof(arbitrary(document, schema, false), word);
}

/** Values of `schema`; when `isNear`, with some parts that are not, that are missing or that are unknown. */
function arbitrary(document: Described, schema: Schema, isNear: boolean): fc.Arbitrary<unknown> {
  const right = rightful(document, schema, isNear);
  return isNear ? fc.oneof({ weight: RIGHT_TO_WRONG, arbitrary: right }, { weight: 1, arbitrary: anything }) : right;
}

function rightful(document: Described, schema: Schema, isNear: boolean): fc.Arbitrary<unknown> {
  const inner = (part: Schema): fc.Arbitrary<unknown> => arbitrary(document, part, isNear);
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return inner(document.components?.schemas?.[name] ?? {});
  }
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return fc.oneof(...variants.map(inner));
  if (schema.type === "object") return objectLike(schema, inner, isNear);
  if (schema.type === "string") return stringLike(schema);
  if (schema.type === "boolean") return fc.boolean();
  if (schema.type === "number") return fc.double({ noNaN: true });
  if (schema.type === "array") {
    const { minItems = 0, maxItems = minItems + 5, items = {} } = schema;
    return fc.array(inner(items), { minLength: isNear ? 0 : minItems, maxLength: Math.min(maxItems, minItems + 5) });
  }
  if (schema.type === "integer") {
    const { minimum = -1_000, maximum = 2_000 } = schema;
    return fc.integer({ min: minimum, max: Math.max(maximum, minimum) });
  }
  return anything;
}

function objectLike(schema: Schema, inner: (part: Schema) => fc.Arbitrary<unknown>, isNear: boolean) {
  const { properties = {}, required = [], additionalProperties } = schema;
  const parts = Object.entries(properties).map(([name, part]) => {
    const entry = fc.tuple(fc.constant(name), inner(part));
    return required.includes(name) && !isNear ? entry : fc.option(entry, { nil: undefined });
  });
  const named = fc.tuple(...parts).map((entries) => entries.filter((entry) => entry !== undefined));
  const free = typeof additionalProperties === "object" ? inner(additionalProperties) : anything;
  const maxLength = typeof additionalProperties === "object" ? 4 : Number(isNear);
  return objectOf(
    fc.tuple(fc.array(fc.tuple(word, free), { maxLength }), named).map(([some, rest]) => [...some, ...rest]),
  );
}

function stringLike({ format, contentEncoding, minLength = 0, maxLength = 40 }: Schema): fc.Arbitrary<unknown> {
  if (format === "date-time") return fc.date({ noInvalidDate: true }).map((date) => date.toISOString());
  if (contentEncoding === "base64") return fc.base64String();
  const length = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 40)) };
  return fc.oneof(fc.string({ unit: "binary", ...length }), fc.constantFrom("e1", "alarms", "in"));
}

/** With `__proto__` as a field like any other. */
function objectOf(entries: fc.Arbitrary<readonly (readonly [string, unknown])[]>): fc.Arbitrary<unknown> {
  return entries.map((pairs) => Object.fromEntries(pairs) as unknown);
}

/** A whole segment: neither empty, which is another path, nor one that clients resolve themselves. */
function segment(text: string): string {
  const encoded = encodeURIComponent(text.toWellFormed());
  return /^(?:|\.|\.\.)$/.test(encoded) ? "e1" : encoded;
}
