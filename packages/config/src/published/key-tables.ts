import type { SchemaNode } from "./schema-node.ts";
import { typeName, type Variant, variantsOf } from "./type-name.ts";

interface Row {
  readonly key: string;
  readonly node: SchemaNode;
  readonly required: boolean;
}

/** What a node says of itself, a table of the keys in it, and a table for each form that a key in it can take. */
export function keyTables(key: string, node: SchemaNode, required: boolean): string {
  const element = node.items ?? node;
  const rows = [...rowsIn(element, "")];
  if (rows.length === 0 && element.properties === undefined) return table([{ key, node, required }]);
  const about = node.description === undefined ? "" : `${node.description}\n\n`;
  const what = node.items === undefined ? "" : "A list; the keys of an element:\n\n";
  const keys = rows.length === 0 ? "No keys.\n" : table(rows);
  const forms = rows.flatMap((row) => variantsOf(row.node).map((variant) => formTable(row.key, variant)));
  return [`${about}${what}${keys}`, ...forms].join("\n");
}

function formTable(key: string, { tag, value, node }: Variant): string {
  const { [tag]: named, ...properties } = node.properties ?? {};
  const title = `**\`${key}\` with \`${tag}\` ${value}**${named?.description === undefined ? "" : `: ${named.description}`}\n`;
  const rows = [...rowsIn({ ...node, properties }, "")];
  const forms = rows.flatMap((row) => variantsOf(row.node).map((variant) => formTable(row.key, variant)));
  return [title, ...(rows.length === 0 ? [] : [table(rows)]), ...forms].join("\n");
}

/** A row for each key, those of nested blocks included, by their path. */
function* rowsIn(node: SchemaNode, prefix: string): Generator<Row> {
  for (const [name, part] of Object.entries(node.properties ?? {})) {
    const key = `${prefix}${name}`;
    yield { key, node: part, required: node.required?.includes(name) === true };
    if (part.properties !== undefined) yield* rowsIn(part, `${key}.`);
    if (part.items?.properties !== undefined) yield* rowsIn(part.items, `${key}[].`);
  }
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ key, node, required }) => {
    const cells = [`\`${key}\``, typeName(node), required ? "required" : defaultOf(node), node.description ?? ""];
    return `| ${cells.map(cellText).join(" | ")} |`;
  });
  return `| Key | Type | Default | Meaning |\n|---|---|---|---|\n${lines.join("\n")}\n`;
}

/** A "<" outside of code would begin a tag. */
function cellText(text: string): string {
  const parts = text.split(/(`[^`]*`)/);
  return parts
    .map((part, index) => (index % 2 === 0 ? part.replaceAll("<", "&lt;") : part))
    .join("")
    .replaceAll("|", "\\|");
}

function defaultOf({ default: value }: SchemaNode): string {
  if (value === undefined) return "";
  if (value === "") return "empty";
  if (typeof value === "object" && value !== null && Object.keys(value).length === 0) return "";
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}
