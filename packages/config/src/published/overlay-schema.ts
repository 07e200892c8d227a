import { documentSchema } from "../schema/document.ts";
import { schemaNode, type SchemaNode } from "./schema-node.ts";

/**
 * The JSON Schema of an overlay: the fields of a document and their kinds, of which none is required but the ids of list
 * elements, and no options of plugins. What the values may be is said of the preview.
 */
export function overlayJsonSchema(): Readonly<Record<string, unknown>> {
  return { ...overlaid(schemaNode(documentSchema)) };
}

function overlaid({ type, description, properties, items, additionalProperties, ...rest }: SchemaNode): SchemaNode {
  const about = { ...(description !== undefined && { description }) };
  const forms = rest.anyOf ?? rest.oneOf;
  if (forms !== undefined) return { ...about, anyOf: forms.map(overlaid) };
  if (properties !== undefined) {
    const fields = Object.entries(properties).filter(([key]) => key !== "options");
    return {
      ...about,
      type: "object",
      properties: Object.fromEntries(fields.map(([key, node]) => [key, overlaid(node)])),
      additionalProperties: false,
    };
  }
  if (items !== undefined) {
    const known = items.properties?.["id"] !== undefined && { required: ["id"] };
    return { ...about, type: "array", items: { ...overlaid(items), ...known } };
  }
  if (type === "object")
    return { ...about, type, ...(additionalProperties && { additionalProperties: overlaid(additionalProperties) }) };
  if (type === "string" || type === undefined) return { ...about, ...(type && { type }) };
  // A reference, or what a redacted view shows.
  return { ...about, anyOf: [{ type }, { type: "string" }] };
}
