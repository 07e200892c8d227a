import { isThenable, kindOf } from "@bridge/ports/internal";
import { PermanentError } from "./permanent-error.ts";
import type { StandardSchemaV1 } from "./standard-schema.ts";

/** More would only make the sentence long. */
const MAX_PLACES = 3;
const MAX_PLACE = 100;

/**
 * What `schema` makes of `value`; a promise when the schema takes its time.
 * @throws PermanentError `INVALID_PAYLOAD` when it does not fit
 */
export function fittingValue(schema: StandardSchemaV1, value: unknown): unknown {
  const result: unknown = schema["~standard"].validate(value);
  return isThenable(result) ? Promise.resolve(result).then(outputOf) : outputOf(result);
}

function outputOf(result: unknown): unknown {
  if (typeof result !== "object" || result === null) {
    throw new TypeError(
      `the schema of a handler is none: validate gave ${kindOf(result)}, not { value } or { issues }`,
    );
  }
  const { issues, value } = result as { readonly issues?: unknown; readonly value?: unknown };
  if (issues === undefined || issues === null) {
    if ("value" in result) return value;
    throw new TypeError("the schema of a handler is none: validate gave neither a value nor issues");
  }
  // Messages of schemas quote the value, which belongs into no log: the cause has them, for programs.
  throw new PermanentError("INVALID_PAYLOAD", `the payload does not fit the handler's schema${placesOf(issues)}`, {
    cause: issues,
  });
}

function placesOf(issues: unknown): string {
  if (!Array.isArray(issues) || issues.length === 0) return "";
  const places = new Set(issues.slice(0, MAX_PLACES).map(placeOf));
  const more = issues.length > MAX_PLACES ? `, and ${issues.length - MAX_PLACES} more` : "";
  return ` at ${[...places].join(", ")}${more}`;
}

function placeOf(issue: unknown): string {
  const { path } = (issue ?? {}) as { readonly path?: unknown };
  if (!Array.isArray(path) || path.length === 0) return "its root";
  return path
    .map((segment: unknown) => keyOf(segment))
    .join(".")
    .slice(0, MAX_PLACE);
}

function keyOf(segment: unknown): string {
  const key: unknown = typeof segment === "object" && segment !== null && "key" in segment ? segment.key : segment;
  return typeof key === "string" || typeof key === "number" || typeof key === "symbol" ? String(key) : "?";
}
