import { conditionSchema } from "@bridge/ports/conditions";
import type { GenericSchema } from "valibot";
import { rateLimitSchema } from "../schema/rate-limit.ts";
import { schemaNode, type SchemaNode } from "./schema-node.ts";

/** A type that stands in several places of a module, which name it. */
export interface NamedType {
  readonly name: string;
  readonly about: string;
  readonly node: SchemaNode;
}

const ALL: readonly NamedType[] = [
  named("ConditionOptions", "One test of a message.", conditionSchema),
  named("RateLimitOptions", "How fast messages go.", rateLimitSchema),
];

const byShape = new Map(ALL.map((type) => [shapeOf(type.node), type]));

/** The type that has a name for what `node` takes, if there is one. */
export function namedType(node: SchemaNode): NamedType | undefined {
  return byShape.get(shapeOf(node));
}

function named(name: string, about: string, schema: GenericSchema): NamedType {
  return { name, about, node: schemaNode(schema) };
}

/** Without what is said of the place where it stands. */
function shapeOf(node: SchemaNode): string {
  return JSON.stringify({ ...node, description: undefined, default: undefined });
}
