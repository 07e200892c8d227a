import type { Registry } from "../registry.ts";
import { STORE_ROLES } from "../rules/stores.ts";
import { documentSchema } from "../schema/document.ts";
import { forEditors } from "./for-editors.ts";
import { linkedOptions } from "./linked-options.ts";
import { schemaNode, type SchemaNode } from "./schema-node.ts";
import { definedOptions, typed } from "./typed-options.ts";

/**
 * The JSON Schema (draft 7, which editors know best) of the document, with the options of the plugins in `registry`. It
 * accepts every document that validation accepts, as it is written, unless the `type` of a resolver or the `op` of a
 * condition is a reference. Validation knows more: what joins two parts, of which transport a session is when a
 * document has several, and what is wrong within a name, a topic, an expression, a host or a URL of the right form.
 */
export function configJsonSchema(registry: Registry): object {
  const document = schemaNode(documentSchema);
  const { transports, stores, processors } = registry;
  const sessions = definedOptions(
    "session",
    [...transports].flatMap(([type, { session }]) => (session === undefined ? [] : [[type, session.options] as const])),
  );
  const steps = definedOptions(
    "processor",
    [...processors].map(([type, { options }]) => [type, options] as const),
  );
  const roles = STORE_ROLES.map((role) => {
    const options = [...stores[role]].map(([type, plugin]) => [type, plugin.options] as const);
    const defined = definedOptions(role, options);
    const block = typed(document.properties?.["stores"]?.properties?.[role] ?? {}, "type", defined.byType);
    return { role, block: typedOrLeft(block), definitions: defined.definitions };
  });
  const linked = linkedOptions(document, transports);
  const storesNode = {
    ...document.properties?.["stores"],
    properties: Object.fromEntries(roles.map(({ role, block }) => [role, block])),
  };
  const whole = {
    ...document,
    properties: {
      ...document.properties,
      ...linked.lists,
      sessions: listOf(document, "sessions", "transport", sessions.byType),
      processors: listOf(document, "processors", "type", steps.byType),
      stores: storesNode,
    },
    ...(linked.allOf.length > 0 && { allOf: linked.allOf }),
  };
  const definitions = Object.assign(
    {},
    sessions.definitions,
    linked.definitions,
    ...roles.map((role) => role.definitions),
    steps.definitions,
  ) as Readonly<Record<string, SchemaNode>>;
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Bridge configuration",
    ...forEditors(whole, definitions),
  };
}

function listOf(
  document: SchemaNode,
  key: string,
  discriminator: string,
  byType: ReadonlyMap<string, SchemaNode>,
): SchemaNode {
  const node = document.properties?.[key] ?? {};
  return { ...node, items: typed(node.items ?? {}, discriminator, byType) };
}

/** A store without a type is none, and has to say what becomes of the one that was there. */
function typedOrLeft(block: SchemaNode): SchemaNode {
  if (block.properties?.["abandon_backlog"] === undefined) return block;
  const left = { abandon_backlog: { const: true } };
  return {
    ...block,
    anyOf: [
      { required: ["type"] },
      { required: ["abandon_backlog"], properties: left, not: { required: ["options"] } },
    ],
  };
}
