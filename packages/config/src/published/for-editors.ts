import { conditional } from "@bridge/ports/options";
import type { SchemaNode } from "./schema-node.ts";

/** What may stand for any string. */
const REFERENCE = { type: "string", pattern: "\\$\\{(env|file):[^{}]+\\}" };
const TO_REFERENCE = { $ref: "#/definitions/reference" };

/**
 * A whole schema as editors are to have it: in standard words, and with references wherever a string is wanted. It may
 * refer to `definitions`.
 */
export function forEditors(schema: SchemaNode, definitions: Readonly<Record<string, SchemaNode>>): object {
  return { ...standard(schema), definitions: { ...eachStandard(definitions), reference: REFERENCE } };
}

function standard(node: SchemaNode): SchemaNode {
  // Editors take the format `duration` for that of ISO 8601.
  const { format: _, properties, items, contains, additionalProperties, anyOf, oneOf, allOf, ...rest } = node;
  const typed = properties ?? oneOf?.some((form) => form.properties !== undefined);
  // A reference in place of a discriminator fits several of its forms, so that "oneOf" would refuse it.
  const forms = anyOf ?? (typed ? oneOf : undefined);
  return orReference({
    ...rest,
    ...(properties && { properties: eachStandard(properties) }),
    ...(items && { items: standard(items) }),
    ...(contains && { contains: standard(contains) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: additionalProperties === false ? false : standard(additionalProperties),
    }),
    ...(forms && { anyOf: forms.map(standard) }),
    ...(oneOf && !forms && { oneOf }),
    ...(allOf && {
      allOf: allOf.map(({ if: when, then, ...other }) =>
        when === undefined ? standard(other) : conditional(when, standard(then ?? {})),
      ),
    }),
  });
}

function eachStandard(nodes: Readonly<Record<string, SchemaNode>>): Record<string, SchemaNode> {
  return Object.fromEntries(Object.entries(nodes).map(([key, node]) => [key, standard(node)]));
}

/** A string that has to be of a certain form, or a reference. */
function orReference(node: SchemaNode): SchemaNode {
  const { type, pattern, minLength, maxLength, enum: choices, ...rest } = node;
  const free = pattern === undefined && maxLength === undefined && choices === undefined && (minLength ?? 0) <= 1;
  if (type === "integer" || type === "number" || type === "boolean" || typeof node.const === "boolean") {
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
