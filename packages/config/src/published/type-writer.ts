import { type NamedType, namedType } from "./named-types.ts";
import type { SchemaNode } from "./schema-node.ts";

/** Writes TypeScript types of what people may write, with descriptions as TSDoc. */
export class TypeWriter {
  readonly #named = new Set<NamedType>();

  /** The interface of a block; empty for a block without keys. */
  interfaceText(name: string, about: string, node: SchemaNode): string {
    if (Object.keys(node.properties ?? {}).length === 0) return "";
    return `${comment(about, "")}export interface ${name} ${this.#block(node, "")}\n`;
  }

  /** The types that the others so far refer to by name. */
  namedTexts(): readonly string[] {
    return [...this.#named].map(({ name, about, node }) =>
      node.properties === undefined
        ? `${comment(about, "")}export type ${name} = ${this.#forms(node, "").join(" | ")};\n`
        : this.interfaceText(name, about, node),
    );
  }

  #block({ properties = {}, required = [] }: SchemaNode, indent: string): string {
    const inner = `${indent}  `;
    const keys = Object.entries(properties).map(([key, node]) => {
      const must = required.includes(key);
      const type = `${this.#typeText(node, inner)}${must ? "" : " | undefined"}`;
      return `${comment(aboutKey(node, must), inner)}${inner}readonly ${key}${must ? "" : "?"}: ${type};\n`;
    });
    return keys.length === 0 ? "{}" : `{\n${keys.join("")}${indent}}`;
  }

  #typeText(node: SchemaNode, indent: string): string {
    return this.#alternatives(node, indent).join(" | ");
  }

  /** The types of which a value has to have one. */
  #alternatives(node: SchemaNode, indent: string): readonly string[] {
    const named = namedType(node);
    if (named === undefined) return this.#forms(node, indent);
    this.#named.add(named);
    return [named.name];
  }

  #forms(node: SchemaNode, indent: string): readonly string[] {
    const { type, const: only, enum: listed, items = {}, additionalProperties: values } = node;
    if (only !== undefined) return [JSON.stringify(only)];
    if (listed !== undefined) return listed.map((value) => JSON.stringify(value));
    const forms = node.oneOf ?? (type === undefined ? node.anyOf : undefined);
    if (forms !== undefined) return [...new Set(forms.flatMap((form) => this.#alternatives(form, indent)))];
    if (type === "array") return [listText(this.#alternatives(items, indent))];
    if (type !== "object") return [type === "integer" ? "number" : (type ?? "unknown")];
    if (node.properties !== undefined) return [this.#block(node, indent)];
    return [`{ readonly [name: string]: ${values ? this.#typeText(values, indent) : "unknown"} }`];
  }
}

/** What a key means, and what is taken where it is left out. */
function aboutKey({ description = "", default: value }: SchemaNode, must: boolean): string {
  const trivial = value === undefined || value === "" || (typeof value === "object" && isEmpty(value));
  if (must || trivial || /\bDefault: /.test(description)) return description;
  return `${description} Default: ${typeof value === "string" ? value : JSON.stringify(value)}.`.trimStart();
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
