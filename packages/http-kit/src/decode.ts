import { repeatedKey } from "@bridge/ports/internal";
import * as v from "valibot";
import type { QuerySchema } from "./endpoint.ts";
import { halfCharacterIn } from "./half-character.ts";
import { HttpError } from "./http-error.ts";
import { jsonFault } from "./json-fault.ts";

const INVALID_BODY = "invalid request body";
/** A caller is told of this many problems at once. */
const MAX_ISSUES = 5;
const MAX_NAME_LENGTH = 64;

/**
 * No body at all is one only where the schema is optional.
 * @throws HttpError 400 naming each field that is wrong or given twice, never its value
 */
export function decodeBody<Schema extends v.GenericSchema>(schema: Schema, bytes: Uint8Array): v.InferOutput<Schema> {
  const value = bytes.length === 0 && isOptional(schema) ? undefined : parseJson(bytes);
  const read = readBy(schema, value);
  if ("value" in read) return read.value;
  throw invalidBody(read.problem);
}

/** The same for one text of many: what it says, or what is wrong with it. `schemaOf` is asked once it is a JSON object. */
export function decodeLine<Schema extends v.GenericSchema>(
  bytes: Uint8Array,
  schemaOf: (value: object) => Schema,
): { readonly value: v.InferOutput<Schema> } | { readonly problem: string } {
  let value: object;
  try {
    value = parseJson(bytes);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { problem: error.message.slice(`${INVALID_BODY}: `.length) };
  }
  return readBy(schemaOf(value), value);
}

function readBy<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): { readonly value: v.InferOutput<Schema> } | { readonly problem: string } {
  const half = halfCharacterIn(value);
  if (half !== undefined) return { problem: at(half.keys, half.problem) };
  const result = v.safeParse(schema, value, { message: describeIssue });
  if (!result.success) return { problem: describeIssues(result.issues) };
  const lists = [...listsForObjects(value, result.output, [])];
  if (lists.length === 0) return { value: result.output };
  return { problem: firstOf(lists.map((path) => `${path}: expected a JSON object`)) };
}

/** The schema library takes an empty list for an object without fields. What it has not looked into it hands on as it is. */
function* listsForObjects(given: unknown, read: unknown, keys: readonly PropertyKey[]): Generator<string> {
  if (given === read || typeof given !== "object" || given === null || typeof read !== "object" || read === null)
    return;
  if (Array.isArray(given) && !Array.isArray(read)) yield pathOf(keys);
  for (const [key, part] of Object.entries(given))
    yield* listsForObjects(part, (read as Readonly<Record<string, unknown>>)[key], [
      ...keys,
      Array.isArray(given) ? Number(key) : key,
    ]);
}

export function isOptional(schema: v.GenericSchema): boolean {
  return schema.type === "optional";
}

/**
 * Without a schema there are no parameters.
 * @param search as it stands in the URL
 * @throws HttpError 400 naming each parameter that is wrong, unknown or given twice: a filter that is misspelt would match everything
 */
export function decodeQuery(schema: QuerySchema | undefined, search: string): unknown {
  const query = new URLSearchParams(search);
  const known = Object.keys(schema?.entries ?? {});
  const problems = search.slice(1).split("&").flatMap(undecodable);
  const given: Record<string, string> = {};
  for (const name of new Set(query.keys())) {
    const values = query.getAll(name);
    if (!known.includes(name)) problems.push(`${nameOf(name)}: unknown parameter`);
    else if (values.length > 1) problems.push(`${name}: is given ${values.length} times`);
    else given[name] = values[0] ?? "";
  }
  if (problems.length > 0) throw new HttpError(400, `invalid query: ${firstOf(problems)}`);
  if (schema === undefined) return undefined;
  const result = v.safeParse(schema, given, { message: describeIssue });
  if (result.success) return result.output;
  throw new HttpError(400, `invalid query: ${describeIssues(result.issues)}`);
}

/** What is no text would be read as other text, and match something else, or nothing. */
function undecodable(pair: string): readonly string[] {
  const [name = "", ...value] = pair.split("=");
  if (isDecodable(name) && isDecodable(value.join("="))) return [];
  const where = isDecodable(name) ? `${nameOf(decodeURIComponent(name))}: ` : "";
  return [`${where}a % has to begin two hexadecimal digits, of UTF-8: write %25 for itself`];
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function parseJson(bytes: Uint8Array): object {
  const text = textOf(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidBody(jsonFault(text));
  }
  // The schema library takes an array for an object.
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidBody("expected a JSON object");
  const repeated = repeatedKey(text);
  if (repeated !== undefined) throw invalidBody(`the key "${nameOf(repeated)}" is given twice`);
  return value;
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidBody("is no UTF-8");
  }
}

function invalidBody(problem: string): HttpError {
  return new HttpError(400, `${INVALID_BODY}: ${problem}`);
}

/** Stands in where a schema has no message of its own; the library's would quote what was received. */
function describeIssue(issue: v.BaseIssue<unknown>): string {
  if (issue.expected === "never") return "unknown field";
  if (issue.type.endsWith("object") && issue.input === undefined) return "is missing";
  const { requirement } = issue as { readonly requirement?: unknown };
  switch (issue.type) {
    case "integer":
      return "expected a whole number";
    case "min_value":
      return `expected ${String(requirement)} or more`;
    case "max_value":
      return `expected ${String(requirement)} or less`;
    default:
      return `expected ${issue.expected ?? "another value"}`;
  }
}

function describeIssues(issues: readonly v.BaseIssue<unknown>[]): string {
  return firstOf(issues.map(describeAt));
}

/** What concerns the whole has no path. */
function describeAt(issue: v.BaseIssue<unknown>): string {
  return at(
    (issue.path ?? []).map(({ key }) => key as PropertyKey),
    issue.message,
  );
}

function at(keys: readonly PropertyKey[], problem: string): string {
  const path = pathOf(keys);
  return path === "" ? problem : `${path}: ${problem}`;
}

function firstOf(problems: readonly string[]): string {
  const shown = problems.slice(0, MAX_ISSUES);
  if (problems.length > MAX_ISSUES) shown.push(`and ${problems.length - MAX_ISSUES} more`);
  return shown.join("; ");
}

function pathOf(keys: readonly PropertyKey[]): string {
  const parts = keys.map((key) => (typeof key === "number" ? `[${key}]` : `.${nameOf(String(key))}`));
  return parts.join("").replace(/^\./, "");
}

function nameOf(key: string): string {
  return key.length > MAX_NAME_LENGTH ? `${key.slice(0, MAX_NAME_LENGTH)}…` : key;
}
