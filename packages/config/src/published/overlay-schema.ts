import { REDACTED } from "../redacted.ts";
import { documentSchema } from "../schema/document.ts";
import { schemaNode, type SchemaNode } from "./schema-node.ts";

/** Keeps what is there, wherever it stands. */
const KEPT: SchemaNode = { const: REDACTED };
/** A text that stands for a value which is none. */
const STANDS_FOR: SchemaNode = { type: "string", pattern: "\\$\\{[a-z]+:|^\\[REDACTED\\]$" };
/** Keys that mean something to the language. */
const USABLE: SchemaNode = { not: { enum: ["__proto__", "prototype", "constructor"] } };

/**
 * The JSON Schema of an overlay: the fields of a document and their kinds, of which none is required but the ids of
 * list elements, and no options of plugins. What the values may be is said of the preview.
 */
export function overlayJsonSchema(): Readonly<Record<string, unknown>> {
  return { ...block(formsOf(schemaNode(documentSchema))) };
}

/**
 * Each of these an overlay may hold, whatever stands beside it: of a block with several forms it need not say which.
 */
function formsOf(node: SchemaNode): readonly SchemaNode[] {
  const forms = node.properties === undefined ? (node.anyOf ?? node.oneOf) : undefined;
  return forms === undefined ? [node] : forms.flatMap(formsOf);
}

function overlaid(nodes: readonly SchemaNode[]): SchemaNode {
  const forms = nodes.flatMap(formsOf);
  const description = nodes.find((node) => node.description !== undefined)?.description;
  const kinds = [...new Set(forms.map(kindOf))].map((kind) =>
    ofKind(
      kind,
      forms.filter((form) => kindOf(form) === kind),
    ),
  );
  const only = kinds.length === 1 ? kinds[0] : undefined;
  const kept = kinds.some(({ type }) => type === "string") ? [] : [KEPT];
  return {
    ...(description !== undefined && { description }),
    ...(only !== undefined && kept.length === 0 ? only : { anyOf: [...kinds, ...kept] }),
  };
}

type Kind = "object" | "array" | "string" | "number" | "boolean" | "any";

function kindOf({ type, enum: choices, const: only, properties }: SchemaNode): Kind {
  if (properties !== undefined) return "object";
  const known = type ?? typeof (choices?.[0] ?? only);
  if (known === "integer") return "number";
  return ["object", "array", "string", "number", "boolean"].includes(known) ? (known as Kind) : "any";
}

function ofKind(kind: Kind, forms: readonly SchemaNode[]): SchemaNode {
  switch (kind) {
    case "object":
      return block(forms);
    case "array":
      return { type: "array", items: element(forms.flatMap(({ items }) => items ?? [])) };
    case "number":
    case "boolean":
      return { anyOf: [{ type: kind }, STANDS_FOR] };
    case "string":
      return { type: "string" };
    case "any":
      return {};
  }
}

function block(forms: readonly SchemaNode[]): SchemaNode {
  const keys = new Set(forms.flatMap(({ properties = {} }) => Object.keys(properties)));
  keys.delete("options");
  const fields = [...keys].map((key) => [key, overlaid(forms.flatMap(({ properties = {} }) => properties[key] ?? []))]);
  const others = forms.flatMap(({ additionalProperties }) => additionalProperties || []);
  return {
    type: "object",
    ...(keys.size > 0 && { properties: Object.fromEntries(fields) as Record<string, SchemaNode> }),
    ...(others.length > 0 && { propertyNames: USABLE }),
    additionalProperties: others.length === 0 ? false : overlaid(others),
  };
}

/** An element of a list whose elements are known by their ids has to name one. */
function element(items: readonly SchemaNode[]): SchemaNode {
  const node = overlaid(items);
  if (!items.some(({ properties }) => properties?.["id"] !== undefined)) return node;
  return { anyOf: [{ required: ["id"], properties: { id: { minLength: 1 } }, type: "object" }, KEPT], allOf: [node] };
}
