import { PutItemCommand, ScanCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { Item } from "../../../src/client/batches.ts";
import { createTable } from "../../../src/client/create-table.ts";
import { DynamoClient } from "../../../src/client/dynamo-client.ts";
import { type Clock, type Logger, type OutboxStore, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import type { TestDynamo } from "@bridge/tooling/test-dynamodb";
import { type DynamodbOutboxOptions, openDynamodbOutbox } from "../../../src/outbox/open-dynamodb-outbox.ts";
import { outboxTable } from "../../../src/outbox/outbox-table.ts";

let tables = 0;
const names = new WeakMap<OutboxStore, string>();
const signal = new AbortController().signal;
/** A slow machine must not decide what is throttled or lost. */
const PATIENT = { tryTimeoutMs: 60_000, callTimeoutMs: 110_000 };

/** A table of its own. */
export async function makeTable(dynamo: TestDynamo): Promise<string> {
  const name = `outbox-${process.pid}-${++tables}`;
  await using client = new DynamoClient({ clock: systemClock, random: systemRandom(), sdk: dynamo.sdk, ...PATIENT });
  await createTable(outboxTable(name), client, systemClock, signal);
  return name;
}

/** A handle on a table; requests go by the machine's time. */
export async function openOn(
  dynamo: TestDynamo,
  tableName: string,
  options: {
    readonly clock?: Clock;
    readonly retentionMs?: number;
    readonly dynamo?: DynamodbOutboxOptions["dynamo"];
    readonly logger?: Logger;
  } = {},
): Promise<OutboxStore> {
  const { clock = systemClock, retentionMs = 3_600_000, logger = silentLogger } = options;
  const random = systemRandom();
  const sdk = { clock: systemClock, random, sdk: dynamo.sdk, ...PATIENT, ...options.dynamo };
  const store = await openDynamodbOutbox({ tableName, retentionMs, clock, random, logger, dynamo: sdk }, signal);
  names.set(store, tableName);
  return store;
}

export function tableOf(store: OutboxStore): string {
  return names.get(store) ?? "";
}

/** Changes the item of a record behind the back of whoever has the table open. */
export async function changeRecord(dynamo: TestDynamo, tableName: string, id: string, change: string, values?: Item) {
  await using client = new DynamoClient({ clock: systemClock, random: systemRandom(), sdk: dynamo.sdk, ...PATIENT });
  const found = await client.send(
    new ScanCommand({
      TableName: tableName,
      FilterExpression: "id = :id",
      ExpressionAttributeValues: { ":id": { S: id } },
    }),
    signal,
  );
  const key = found.Items?.[0]?.["pk"];
  if (key === undefined) throw new Error(`there is no record ${id}`);
  const reserved = ["status", "token"].filter((name) => change.includes(`#${name}`));
  const update = new UpdateItemCommand({
    TableName: tableName,
    Key: { pk: key },
    UpdateExpression: change,
    ...(reserved.length > 0 && {
      ExpressionAttributeNames: Object.fromEntries(reserved.map((name) => [`#${name}`, name])),
    }),
    ...(values !== undefined && { ExpressionAttributeValues: values }),
  });
  await client.send(update, signal);
}

/** Writes a state into each item of a group, behind the back of whoever has the table open. */
export async function changeGroups(dynamo: TestDynamo, tableName: string, state: string): Promise<void> {
  await using client = new DynamoClient({ clock: systemClock, random: systemRandom(), sdk: dynamo.sdk, ...PATIENT });
  const { Items: items = [] } = await client.send(new ScanCommand({ TableName: tableName }), signal);
  const groups = items.filter(({ pk }) => pk?.S?.startsWith("G#"));
  if (groups.length === 0) throw new Error("there is no group");
  for (const group of groups) {
    await client.send(new PutItemCommand({ TableName: tableName, Item: { ...group, state: { S: state } } }), signal);
  }
}
