import type {
  AttributeDefinition,
  CreateTableCommandInput,
  KeySchemaElement,
  Projection,
} from "@aws-sdk/client-dynamodb";
import type { TableDescription, TableIndex, TableKey } from "./table-description.ts";

/** What makes the table: paid by request, so that there is nothing to size. */
export function createTableInput({ name, key, indexes }: TableDescription): CreateTableCommandInput {
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: attributesOf([key, ...indexes.map((index) => index.key)]),
    KeySchema: keySchemaOf(key),
    ...(indexes.length > 0 && {
      GlobalSecondaryIndexes: indexes.map((index) => ({
        IndexName: index.name,
        KeySchema: keySchemaOf(index.key),
        Projection: projectionOf(index),
      })),
    }),
  };
}

function attributesOf(keys: readonly TableKey[]): AttributeDefinition[] {
  const types = new Map<string, "S" | "N" | "B">();
  for (const { partition, sort } of keys) {
    types.set(partition.name, partition.type);
    if (sort !== undefined) types.set(sort.name, sort.type);
  }
  return Array.from(types, ([name, type]) => ({ AttributeName: name, AttributeType: type }));
}

function keySchemaOf({ partition, sort }: TableKey): KeySchemaElement[] {
  const range: KeySchemaElement[] = sort === undefined ? [] : [{ AttributeName: sort.name, KeyType: "RANGE" }];
  return [{ AttributeName: partition.name, KeyType: "HASH" }, ...range];
}

function projectionOf({ projection }: TableIndex): Projection {
  if (projection === "all") return { ProjectionType: "ALL" };
  if (projection === "keys") return { ProjectionType: "KEYS_ONLY" };
  return { ProjectionType: "INCLUDE", NonKeyAttributes: [...projection] };
}
