import { conditional, type SchemaNode } from "./schema-node.ts";

/** What may stand for any string. */
const REFERENCE = { type: "string", pattern: "\\$\\{(env|file):[^{}]+\\}" };
const TO_REFERENCE = { $ref: "#/definitions/reference" };

/** Editors take the format `duration` for that of ISO 8601. */
const PATTERNS: Readonly<Record<string, string>> = { duration: "^(\\d+(\\.\\d+)?(ms|s|m|h))+$" };

/** A whole schema as editors are to have it: in standard words, and with references wherever a string is wanted. */
export function forEditors(schema: SchemaNode): object {
  return { ...standard(schema), definitions: { reference: REFERENCE } };
}

function standard(node: SchemaNode): SchemaNode {
  const { format, properties, items, additionalProperties, anyOf, oneOf, allOf, ...rest } = node;
  const pattern = format === undefined ? undefined : PATTERNS[format];
  // A reference in place of a discriminator fits several of its forms, so that "oneOf" would refuse it.
  const forms = anyOf ?? oneOf;
  return orReference({
    ...rest,
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
