import type { TransportPlugin } from "@bridge/ports";
import type { GenericSchema } from "valibot";
import type { Registry } from "../registry.ts";
import { STORE_ROLES } from "../rules/stores.ts";
import { documentSchema } from "../schema/document.ts";
import { forEditors } from "./for-editors.ts";
import { conditional, schemaNode, type SchemaNode } from "./schema-node.ts";

/**
 * The JSON Schema (draft 7, which editors know best) of the document, with the options of the plugins in `registry`.
 * It accepts every document that validation accepts, as it is written, unless the `type` of a resolver or the `op` of a
 * condition is a reference. Validation knows more: what joins two parts, of which transport a session is, the bounds of a
 * duration besides "none" and the most digits, and what is wrong within a name, a host or a URL of the right form.
 */
export function configJsonSchema(registry: Registry): object {
  const document = schemaNode(documentSchema);
  const { transports, stores, processors } = registry;
  const linked = (node: SchemaNode, half: "receiver" | "sender"): SchemaNode => ({
    ...node,
    items: onSession(node.items ?? {}, optionsByType(new Map([...transports].filter(hasSessions)), half)),
  });
  const lists: Readonly<Record<string, SchemaNode>> = {
    sessions: list(document, "sessions", "transport", optionsByType(transports, "session")),
    receivers: linked(list(document, "receivers", "transport", optionsByType(transports, "receiver")), "receiver"),
    senders: linked(list(document, "senders", "transport", optionsByType(transports, "sender")), "sender"),
    processors: list(
      document,
      "processors",
      "type",
      new Map([...processors].map(([type, { options }]) => [type, options])),
    ),
  };
  const roles = STORE_ROLES.map((role) => {
    const options = new Map([...stores[role]].map(([type, plugin]) => [type, plugin.options]));
    return [
      role,
      typedOrLeft(typed(document.properties?.["stores"]?.properties?.[role] ?? {}, "type", options)),
    ] as const;
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
      const named = { properties: { [discriminator]: { const: name } }, required: [discriminator] };
      return conditional(named, withOptions(schema));
    }),
  };
}

function withOptions(schema: GenericSchema): SchemaNode {
  const node = schemaNode(schema);
  return { properties: { options: node }, ...((node.required?.length ?? 0) > 0 && { required: ["options"] }) };
}

function hasSessions([, { session }]: readonly [string, TransportPlugin]): boolean {
  return session !== undefined;
}

/** A part that names a session instead of a transport has the options of one of those with sessions: which, no schema can look up. */
function onSession(block: SchemaNode, options: OptionsByType): SchemaNode {
  if (options.size === 0) return block;
  const unnamed = { properties: { transport: { const: "" } } };
  const either = conditional(unnamed, { anyOf: [...options.values()].map(withOptions) });
  return { ...block, allOf: [...(block.allOf ?? []), either] };
}

/** A store without a type is none, and has to say what becomes of the one that was there. */
function typedOrLeft(block: SchemaNode): SchemaNode {
  if (block.properties?.["abandon_backlog"] === undefined) return block;
  const left = { abandon_backlog: { anyOf: [{ const: true }, { type: "string" }] } };
  return { ...block, anyOf: [{ required: ["type"] }, { required: ["abandon_backlog"], properties: left }] };
}
