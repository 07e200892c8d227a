import type { GenericSchema } from "valibot";
import type { Registry } from "../registry.ts";
import { STORE_ROLES } from "../rules/stores.ts";
import { documentSchema } from "../schema/document.ts";
import { forEditors } from "./for-editors.ts";
import { conditional, schemaNode, type SchemaNode } from "./schema-node.ts";

/**
 * The JSON Schema (draft 7, which editors know best) of the document, with the options of the plugins in `registry`.
 * It accepts every document that validation accepts, as it is written, unless the `type` of a resolver or the `op` of a
 * condition is a reference. Validation knows more.
 */
export function configJsonSchema(registry: Registry): object {
  const document = schemaNode(documentSchema);
  const { transports, stores, processors } = registry;
  const lists: Readonly<Record<string, SchemaNode>> = {
    sessions: list(document, "sessions", "transport", optionsByType(transports, "session")),
    receivers: list(document, "receivers", "transport", optionsByType(transports, "receiver")),
    senders: list(document, "senders", "transport", optionsByType(transports, "sender")),
    processors: list(
      document,
      "processors",
      "type",
      new Map([...processors].map(([type, { options }]) => [type, options])),
    ),
  };
  const roles = STORE_ROLES.map((role) => {
    const options = new Map([...stores[role]].map(([type, plugin]) => [type, plugin.options]));
    return [role, typed(document.properties?.["stores"]?.properties?.[role] ?? {}, "type", options)] as const;
  });
  const storesNode = { ...document.properties?.["stores"], properties: Object.fromEntries(roles) };
  const whole = { ...document, properties: { ...document.properties, ...lists, stores: storesNode } };
  return { $schema: "http://json-schema.org/draft-07/schema#", title: "Bridge configuration", ...forEditors(whole) };
}

type OptionsByType = ReadonlyMap<string, GenericSchema>;

function optionsByType(transports: Registry["transports"], half: "session" | "receiver" | "sender"): OptionsByType {
  const having = [...transports].flatMap(([type, plugin]) => {
    const factory = plugin[half];
    return factory === undefined ? [] : [[type, factory.options] as const];
  });
  return new Map(having);
}

function list(document: SchemaNode, key: string, discriminator: string, options: OptionsByType): SchemaNode {
  const node = document.properties?.[key] ?? {};
  return { ...node, items: typed(node.items ?? {}, discriminator, options) };
}

/** A block whose `options` depend on what its `discriminator` names. */
function typed(block: SchemaNode, discriminator: string, options: OptionsByType): SchemaNode {
  if (options.size === 0) return block;
  const { [discriminator]: type = {}, ...others } = block.properties ?? {};
  const { minLength: _, ...unbounded } = type;
  const optional = block.required?.includes(discriminator) !== true;
  const known = [...options.keys(), ...(optional ? [""] : [])];
  return {
    ...block,
    properties: { ...others, [discriminator]: { ...unbounded, enum: known } },
    allOf: [...options].map(([name, schema]) => {
      const node = schemaNode(schema);
      const required = (node.required?.length ?? 0) > 0 && { required: ["options"] };
      const named = { properties: { [discriminator]: { const: name } }, required: [discriminator] };
      return conditional(named, { properties: { options: node }, ...required });
    }),
  };
}
