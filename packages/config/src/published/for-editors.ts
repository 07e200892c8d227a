import { conditional, type SchemaNode } from "./schema-node.ts";

/** What may stand for any string. */
const REFERENCE = { type: "string", pattern: "\\$\\{(env|file):[^{}]+\\}" };
const TO_REFERENCE = { $ref: "#/definitions/reference" };

/** Of ten years no unit has more digits. */
const DIGITS = { ms: 12, s: 9, m: 7, h: 5, d: 4 } as const;
const PARTS = Object.entries(DIGITS).map(([unit, most]) => `0*\\d{1,${most}}(\\.\\d+)?${unit}`);
const DURATION = `(${PARTS.join("|")})+$`;

/** A whole schema as editors are to have it: in standard words, and with references wherever a string is wanted. */
export function forEditors(schema: SchemaNode): object {
  return { ...standard(schema), definitions: { reference: REFERENCE } };
}

function standard(node: SchemaNode): SchemaNode {
  const { format, properties, items, additionalProperties, anyOf, oneOf, allOf, ...rest } = node;
  // Editors take the format `duration` for that of ISO 8601.
  const pattern = format === "duration" ? `^${(rest.minimum ?? 0) > 0 ? "(?=.*[1-9])" : ""}${DURATION}` : undefined;
  // A reference in place of a discriminator fits several of its forms, so that "oneOf" would refuse it.
  const forms = anyOf ?? oneOf;
  const { minimum: _, ...unbounded } = rest;
  return orReference({
    ...(pattern === undefined ? rest : unbounded),
    ...(pattern !== undefined && { pattern }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, standard(part)])),
    }),
    ...(items && { items: standard(items) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: additionalProperties === false ? false : standard(additionalProperties),
    }),
    ...(forms && { anyOf: forms.map(standard) }),
    ...(allOf && { allOf: allOf.map(({ if: when, then }) => conditional(when ?? {}, standard(then ?? {}))) }),
  });
}

/** A string that has to be of a certain form, or a reference. */
function orReference(node: SchemaNode): SchemaNode {
  const { type, pattern, minLength, maxLength, enum: choices, ...rest } = node;
  const free = pattern === undefined && maxLength === undefined && choices === undefined && (minLength ?? 0) <= 1;
  if (type === "integer" || type === "number" || type === "boolean") {
    const { minimum, maximum, description, default: usual, ...others } = node;
    const about = { ...(description !== undefined && { description }), ...(usual !== undefined && { default: usual }) };
    const bounds = { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) };
    return { ...about, anyOf: [{ ...others, ...bounds }, TO_REFERENCE] };
  }
  if (type !== "string" || free) return node;
  const form: SchemaNode = {
    type,
    ...(pattern !== undefined && { pattern }),
    ...(minLength !== undefined && { minLength }),
    ...(maxLength !== undefined && { maxLength }),
    ...(choices !== undefined && { enum: choices }),
  };
  return { ...rest, anyOf: [form, TO_REFERENCE] };
}
