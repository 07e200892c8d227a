import {
  type AttributeValue,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { DynamoClient } from "./dynamo-client.ts";
import type { KeyAttribute, TableDescription, TableKey, Write } from "./table-description.ts";

/** Reads what is not there. */
export async function tryReading({ name, key }: TableDescription, client: DynamoClient, signal: AbortSignal) {
  await client.send(new GetItemCommand({ TableName: name, Key: noItem(key) }), signal);
}

/**
 * Each write that the store needs is taken, and not made: who may not write, or is throttled, hears that instead. Who may put
 * items may not be let change them.
 */
export async function tryWriting(description: TableDescription, client: DynamoClient, signal: AbortSignal) {
  const { writes = PUT } = description;
  if (writes.length === 0) return tryReading(description, client, signal);
  for (const write of writes) await WRITES[write](description, client, signal);
}

const PUT: readonly Write[] = ["PutItem"];

const WRITES: Readonly<Record<Write, typeof tryWriting>> = {
  async PutItem({ name, key }, client, signal) {
    await client.sendIf(new PutItemCommand({ TableName: name, Item: noItem(key), ...ifThere(key) }), signal);
  },
  async UpdateItem({ name, key }, client, signal) {
    await client.sendIf(new UpdateItemCommand({ TableName: name, Key: noItem(key), ...ifThere(key) }), signal);
  },
  async DeleteItem({ name, key }, client, signal) {
    await client.sendIf(new DeleteItemCommand({ TableName: name, Key: noItem(key), ...ifThere(key) }), signal);
  },
};

function ifThere({ partition }: TableKey) {
  return { ConditionExpression: "attribute_exists(#key)", ExpressionAttributeNames: { "#key": partition.name } };
}

/** A key that no item has. */
function noItem({ partition, sort }: TableKey): Record<string, AttributeValue> {
  const attributes = [partition, ...(sort === undefined ? [] : [sort])];
  return Object.fromEntries(attributes.map((one) => [one.name, noValue(one)]));
}

function noValue({ type }: KeyAttribute): AttributeValue {
  if (type === "N") return { N: "-1" };
  return type === "S" ? { S: "\u0000bridge-probe" } : { B: Uint8Array.of(0) };
}
