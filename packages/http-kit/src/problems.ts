/** What is wrong with a request, in words. @module */
import { joined, printable, type Said } from "@bridge/ports/internal";
import * as v from "valibot";
import { beginningOf, got } from "./got.ts";
import { namedKeys, schemaAt } from "./schema-at.ts";

/** A caller is told of this many problems at once. */
const MAX_ISSUES = 5;
/** No schema is as deep. */
const MAX_DEPTH = 32;

/** What `schema` reads out of `given`, or all that is wrong with it. */
export function parse<Schema extends v.GenericSchema>(
  schema: Schema,
  given: unknown,
): { readonly value: v.InferOutput<Schema> } | { readonly problem: Said } {
  const { success, output, issues } = v.safeParse(schema, given, { message: describeIssue });
  if (success) return { value: output };
  return { problem: firstOf(issues.map((issue) => describeAt(issue, schema, given))) };
}

export function firstOf(problems: readonly Said[]): Said {
  const told = problems.slice(0, MAX_ISSUES);
  if (problems.length > MAX_ISSUES) told.push(`and ${problems.length - MAX_ISSUES} more`);
  return joined(told, "; ");
}

/** A problem behind its place. What concerns the whole has none; a name that is in no schema is the caller's own. */
export function at(keys: readonly PropertyKey[], schema: v.GenericSchema, problem: Said): Said {
  if (keys.length === 0) return problem;
  const named = pathOf(keys.slice(0, namedKeys(schema, keys)));
  const rest = pathOf(keys).slice(named.length);
  return joined([[named, { sent: rest }, named === "" ? { sent: ": " } : ": "], problem]);
}

export function nameOf(key: string): string {
  return printable(beginningOf(key));
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

function describeAt(issue: v.BaseIssue<unknown>, schema: v.GenericSchema, given: unknown): Said {
  const keys = (issue.path ?? []).map(({ key }) => key as PropertyKey);
  const sent = got(issue, schemaAt(schema, keys), sentAt(keys, given));
  return at(keys, schema, [issue.message, { sent }]);
}

/** As it was sent: a schema may have made something else of it before it refused that. */
function sentAt(keys: readonly PropertyKey[], given: unknown): unknown {
  let value = given;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<PropertyKey, unknown>>)[key];
  }
  return value;
}

function pathOf(keys: readonly PropertyKey[]): string {
  const parts = keys
    .slice(0, MAX_DEPTH)
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${nameOf(String(key))}`));
  if (keys.length > MAX_DEPTH) parts.push("…");
  return parts.join("").replace(/^\./, "");
}
