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
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly contains?: SchemaNode;
  /** A secret: nothing ever shows its value. */
  readonly writeOnly?: boolean;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: SchemaNode | false;
  readonly propertyNames?: SchemaNode;
  readonly dependencies?: Readonly<Record<string, SchemaNode | readonly string[]>>;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly oneOf?: readonly SchemaNode[];
  readonly allOf?: readonly SchemaNode[];
  readonly not?: SchemaNode;
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
  const {
    secret: _,
    file: __,
    pem: ___,
    propertyNames,
    ...rest
  } = node as SchemaNode & Readonly<Record<string, unknown>>;
  const description = descriptionOf(schema);
  return {
    ...rest,
    // The library says of every record that its keys are strings, as all are.
    ...(propertyNames?.pattern !== undefined && { propertyNames: { pattern: propertyNames.pattern } }),
    ...mostBytes(schema),
    ...(description !== undefined && { description }),
    ...(format === "duration" && { format }),
    ...(secret === true && { writeOnly: true }),
  };
}

function descriptionOf(schema: GenericSchema): string | undefined {
  const { wrapped } = shapeOf(schema);
  return getDescription(schema) ?? (wrapped && descriptionOf(wrapped));
}

/** No character has less than a byte, so a text of too many of them has too many bytes. */
function mostBytes(schema: GenericSchema): Pick<SchemaNode, "maxLength"> {
  for (const { type, requirement } of actionsOf(schema))
    if (type === "max_bytes" && typeof requirement === "number") return { maxLength: requirement };
  return {};
}

interface Action {
  readonly type: string;
  readonly requirement?: unknown;
  /** Of a schema, which a pipe begins with. */
  readonly pipe?: readonly unknown[];
}

function* actionsOf(schema: GenericSchema): Generator<Action> {
  const { wrapped } = shapeOf(schema);
  if (wrapped !== undefined) yield* actionsOf(wrapped);
  const { pipe = [] } = schema as { readonly pipe?: readonly Action[] };
  for (const item of pipe) {
    if (item.pipe === undefined) yield item;
    else yield* actionsOf(item as unknown as GenericSchema);
  }
}

function metadataOf(schema: GenericSchema): Readonly<Record<string, unknown>> {
  const { wrapped } = shapeOf(schema);
  return { ...(wrapped && metadataOf(wrapped)), ...getMetadata(schema) };
}
