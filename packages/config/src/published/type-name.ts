import type { SchemaNode } from "./schema-node.ts";

/** One of the forms of a block whose keys depend on one of them. */
export interface Variant {
  /** The key that they depend on. */
  readonly tag: string;
  /** Its values that ask for this form. */
  readonly value: string;
  readonly node: SchemaNode;
}

/** The forms of a node, also when it is a list of such blocks or either. */
export function variantsOf(node: SchemaNode): readonly Variant[] {
  const forms = node.oneOf ?? node.anyOf?.flatMap((option) => option.oneOf ?? []) ?? [];
  const tag = Object.keys(forms[0]?.properties ?? {}).find((key) =>
    forms.every((form) => choices(form.properties?.[key]) !== undefined),
  );
  if (tag === undefined) return [];
  return forms.map((form) => ({ tag, value: choices(form.properties?.[tag]) ?? "", node: form }));
}

/** What a value is, in words for a table. */
export function typeName(node: SchemaNode): string {
  if (node.writeOnly === true) return "secret";
  if (node.format === "duration" || node.format === "id") return node.format;
  const listed = choices(node);
  if (listed !== undefined) return listed;
  if (node.oneOf !== undefined) return "block";
  if (node.anyOf !== undefined) {
    const options = node.anyOf.filter((option) => option.const !== "");
    return [...new Set(options.map(typeName))].join(" or ");
  }
  if (node.type === "array") return node.items === undefined ? "list" : `list of ${plural(typeName(node.items))}`;
  if (node.type === "object") {
    return node.properties === undefined && node.additionalProperties ? mapName(node.additionalProperties) : "block";
  }
  if (node.type === "boolean") return "`true` or `false`";
  return `${node.type ?? "any"}${range(node)}`;
}

function choices({ enum: listed, const: only }: SchemaNode = {}): string | undefined {
  const values = listed ?? (only === undefined ? undefined : [only]);
  return values?.map((value) => `\`${String(value)}\``).join(", ");
}

function mapName(value: SchemaNode): string {
  const name = typeName(value);
  return name === "any" ? "block" : `map from string to ${name}`;
}

function plural(name: string): string {
  return name === "id" || name === "string" || name === "block" ? `${name}s` : name;
}

function range({ minimum, maximum: most }: SchemaNode): string {
  // Beyond, a number would not be the one that was written.
  const maximum = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `, at least ${minimum}`;
  return maximum === undefined ? "" : `, at most ${maximum}`;
}
