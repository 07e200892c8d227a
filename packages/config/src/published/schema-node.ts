import { toJsonSchema } from "@valibot/to-json-schema";
import { type GenericSchema, getDescription, getMetadata } from "valibot";
import { shapeOf } from "../check/schema-shape.ts";

/** The part of JSON Schema that the published descriptions of the configuration use. */
export interface SchemaNode {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  /** `duration`: a string such as `1m30s`. `id`: the name of a part. */
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  /** A secret: nothing ever shows its value. */
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode | false;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
  readonly if?: SchemaNode;
  readonly then?: SchemaNode;
  readonly $ref?: string;
}

/**
 * A schema as JSON Schema of what people write. Says nothing of checks that JSON Schema cannot express, and more than
 * the library's own conversion does: that one stops at the first transformation, where the units and words are.
 */
export function schemaNode(schema: GenericSchema): SchemaNode {
  const {
    $schema: _,
    $defs,
    ...node
  } = toJsonSchema(schema, {
    typeMode: "input",
    errorMode: "ignore",
    overrideSchema: ({ valibotSchema, jsonSchema }) => annotateParts(valibotSchema, jsonSchema as SchemaNode) as object,
  });
  // Definitions belong to a document of their own. A schema that needs them stays open here: it accepts anything.
  return annotate(schema, $defs === undefined ? (node as SchemaNode) : {});
}

/** A node that holds `consequence` where it holds `condition`. */
export function conditional(condition: SchemaNode, consequence: SchemaNode): SchemaNode {
  // oxlint-disable-next-line unicorn/no-thenable -- JSON Schema's own word; nobody awaits a schema
  return { if: condition, then: consequence };
}

function annotateParts(schema: GenericSchema, node: SchemaNode): SchemaNode {
  const { entries, item, value } = shapeOf(schema);
  if (entries !== undefined && node.properties !== undefined) {
    const properties = Object.entries(node.properties).map(([key, part]) => {
      const entry = entries[key];
      return [key, entry === undefined ? part : annotate(entry, part)] as const;
    });
    return { ...node, properties: Object.fromEntries(properties) };
  }
  if (item !== undefined && node.items !== undefined) return { ...node, items: annotate(item, node.items) };
  if (value !== undefined && node.additionalProperties) {
    return { ...node, additionalProperties: annotate(value, node.additionalProperties) };
  }
  return node;
}

function annotate(schema: GenericSchema, node: SchemaNode): SchemaNode {
  const { format, secret } = metadataOf(schema);
  const { secret: _, propertyNames: __, maximum, ...rest } = node as SchemaNode & Readonly<Record<string, unknown>>;
  const description = descriptionOf(schema);
  return {
    ...rest,
    ...(maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && { maximum }),
    ...(description !== undefined && { description }),
    ...(format === "duration" && { format, ...leastOf(schema) }),
    ...(secret === true && { writeOnly: true }),
  };
}

function descriptionOf(schema: GenericSchema): string | undefined {
  const { wrapped } = shapeOf(schema);
  return getDescription(schema) ?? (wrapped && descriptionOf(wrapped));
}

/** Of a duration, in milliseconds. The library does not look at what follows a transformation. */
function leastOf(schema: GenericSchema): Pick<SchemaNode, "minimum"> {
  const { wrapped } = shapeOf(schema);
  if (wrapped !== undefined) return leastOf(wrapped);
  const { pipe = [] } = schema as { readonly pipe?: readonly PipeItem[] };
  for (const { type, requirement, pipe: inner } of pipe.slice(1)) {
    if (type === "min_value" && typeof requirement === "number") return { minimum: requirement };
    if (inner !== undefined) break;
  }
  const [first] = pipe;
  return first?.pipe === undefined ? {} : leastOf(first as unknown as GenericSchema);
}

interface PipeItem {
  readonly type: string;
  readonly requirement?: unknown;
  readonly pipe?: readonly unknown[];
}

function metadataOf(schema: GenericSchema): Readonly<Record<string, unknown>> {
  const { wrapped } = shapeOf(schema);
  return { ...(wrapped && metadataOf(wrapped)), ...getMetadata(schema) };
}
