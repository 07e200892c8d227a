import type { SchemaNode } from "./schema-node.ts";

/** A TypeScript interface of what people may write in a block, with its descriptions as TSDoc; empty for a block without keys. */
export function interfaceText(name: string, about: string, node: SchemaNode): string {
  if (Object.keys(node.properties ?? {}).length === 0) return "";
  return `${comment(about, "")}export interface ${name} ${block(node, "")}\n`;
}

function block({ properties = {}, required = [] }: SchemaNode, indent: string): string {
  const inner = `${indent}  `;
  const keys = Object.entries(properties).map(([key, node]) => {
    const must = required.includes(key);
    const type = `${typeText(node, inner)}${must ? "" : " | undefined"}`;
    return `${comment(aboutKey(node, must), inner)}${inner}readonly ${key}${must ? "" : "?"}: ${type};\n`;
  });
  return keys.length === 0 ? "{}" : `{\n${keys.join("")}${indent}}`;
}

/** What a key means, and what is taken where it is left out. */
function aboutKey({ description = "", default: value }: SchemaNode, must: boolean): string {
  const trivial = value === undefined || value === "" || (typeof value === "object" && isEmpty(value));
  if (must || trivial || /\bDefault: /.test(description)) return description;
  return `${description} Default: ${typeof value === "string" ? value : JSON.stringify(value)}.`.trimStart();
}

function typeText(node: SchemaNode, indent: string): string {
  return alternatives(node, indent).join(" | ");
}

/** The types of which a value has to have one. */
function alternatives(node: SchemaNode, indent: string): readonly string[] {
  const { type, const: only, enum: listed, items = {}, additionalProperties: values } = node;
  if (only !== undefined) return [JSON.stringify(only)];
  if (listed !== undefined) return listed.map((value) => JSON.stringify(value));
  const forms = node.oneOf ?? (type === undefined ? node.anyOf : undefined);
  if (forms !== undefined) return [...new Set(forms.flatMap((form) => alternatives(form, indent)))];
  if (type === "array") return [listText(alternatives(items, indent))];
  if (type !== "object") return [type === "integer" ? "number" : (type ?? "unknown")];
  if (node.properties !== undefined) return [block(node, indent)];
  return [`{ readonly [name: string]: ${values ? typeText(values, indent) : "unknown"} }`];
}

function listText(elements: readonly string[]): string {
  const [element = "unknown", ...others] = elements;
  return others.length === 0 ? `readonly ${element}[]` : `readonly (${elements.join(" | ")})[]`;
}

function comment(text: string, indent: string): string {
  return text === "" ? "" : `${indent}/** ${text.replaceAll("*/", "*\\/")} */\n`;
}

function isEmpty(value: object | null): boolean {
  return value === null || Object.keys(value).length === 0;
}
