import { conditional } from "@bridge/ports/options";
import type { GenericSchema } from "valibot";
import { schemaNode, type SchemaNode } from "./schema-node.ts";

/** The options of plugins, each described once, and by type what a block with options of that type has to be. */
export interface DefinedOptions {
  readonly definitions: Readonly<Record<string, SchemaNode>>;
  readonly byType: ReadonlyMap<string, SchemaNode>;
}

/** `kind` tells the options of one type from those that it has for other kinds of parts. */
export function definedOptions(
  kind: string,
  schemas: Iterable<readonly [type: string, schema: GenericSchema]>,
): DefinedOptions {
  const definitions: Record<string, SchemaNode> = {};
  const byType = new Map<string, SchemaNode>();
  for (const [type, schema] of schemas) {
    const name = `${type}_${kind}`;
    const node = schemaNode(schema);
    definitions[name] = node;
    byType.set(type, {
      properties: { options: { $ref: `#/definitions/${name}` } },
      ...(hasRequired(node) && { required: ["options"] }),
    });
  }
  return { definitions, byType };
}

/** Whether an empty block would be refused. */
function hasRequired({ required = [], anyOf, oneOf }: SchemaNode): boolean {
  return required.length > 0 || [anyOf, oneOf].some((forms) => forms?.every((form) => hasRequired(form)));
}

/** A block that depends on what its `discriminator` names. */
export function typed(block: SchemaNode, discriminator: string, byType: ReadonlyMap<string, SchemaNode>): SchemaNode {
  if (byType.size === 0) return block;
  const { [discriminator]: type = {}, ...others } = block.properties ?? {};
  const { minLength = 0, ...unbounded } = type;
  const known = [...byType.keys(), ...(minLength === 0 ? [""] : [])];
  return {
    ...block,
    properties: { ...others, [discriminator]: { ...unbounded, enum: known } },
    allOf: [
      ...(block.allOf ?? []),
      ...[...byType].map(([name, node]) => conditional(named(discriminator, name), node)),
    ],
  };
}

/** Holds where `discriminator` is `name`. */
export function named(discriminator: string, name: string): SchemaNode {
  return { properties: { [discriminator]: { const: name } }, required: [discriminator] };
}
