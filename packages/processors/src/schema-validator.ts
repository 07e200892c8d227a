import type { Envelope } from "@bridge/ports";
// oxlint-disable-next-line no-restricted-imports -- the library's own entry for this draft
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { Changes } from "./changes.ts";
import { parseJson } from "./json.ts";
import { Refusal } from "./refusal.ts";

/** A JSON Schema, as parsed from JSON or YAML. */
export type Schema = Readonly<Record<string, unknown>>;

/** Says why a schema cannot be used; `undefined` when it can. */
export function schemaProblem(schema: Schema): string | undefined {
  try {
    compile(schema);
    return undefined;
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
  }
}

/** Compiles a schema that has no {@link schemaProblem}. The result throws a {@link Refusal} for what does not fit. */
export function compileValidator(schema: Schema): (envelope: Envelope) => Changes {
  const validate = compile(schema);
  const declared = new Set(propertyNames(schema));
  return ({ payload }) => {
    const document = parseJson(payload);
    if (!fits(validate, document)) {
      throw new Refusal("SCHEMA_VIOLATION", violation(validate.errors?.at(-1), document, declared));
    }
    return {};
  };
}

function compile(schema: Schema): ValidateFunction {
  if (schema["$async"] !== undefined) throw new Error("$async is not supported");
  // Of a hostile payload nobody wants all errors; the first one is found with the least work.
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: false, logger: false });
  formats.default(ajv);
  return ajv.compile(schema);
}

function fits(validate: ValidateFunction, document: unknown): boolean {
  try {
    return validate(document);
  } catch {
    // Only the stack can give out here: a schema that refers to itself follows the payload down.
    throw new Refusal("SCHEMA_VIOLATION", "the payload is nested too deeply to be checked");
  }
}

/** The longest message; what it quotes of a schema may be longer. */
const MAX_MESSAGE = 300;

function violation(error: ErrorObject | undefined, document: unknown, declared: ReadonlySet<string>): string {
  const place = placeOf(error?.instancePath ?? "", document, declared);
  const message = `${place === "" ? "the payload" : place} ${error?.message ?? "does not fit the schema"}`;
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
}

/** A JSON pointer in which a name that the schema does not know is `*`: it is the sender's, and may tell something. */
function placeOf(pointer: string, document: unknown, declared: ReadonlySet<string>): string {
  let part = document;
  let place = "";
  for (const segment of pointer.split("/").slice(1)) {
    const name = segment.replaceAll("~1", "/").replaceAll("~0", "~");
    place += Array.isArray(part) || declared.has(name) ? `/${segment}` : "/*";
    part = (part as Readonly<Record<string, unknown>> | undefined)?.[name];
  }
  return place;
}

/** Every name that stands under `properties` somewhere in the schema. */
function* propertyNames(schema: unknown): Generator<string> {
  if (typeof schema !== "object" || schema === null) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "properties" && typeof value === "object" && value !== null) yield* Object.keys(value);
    yield* propertyNames(value);
  }
}
