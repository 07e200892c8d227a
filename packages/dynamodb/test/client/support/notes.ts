import { PATIENCE } from "@bridge/tooling/patience";
import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { patientClock } from "@bridge/conformance";
import { type Random, silentLogger, systemClock } from "@bridge/ports";
import type { TestDynamo } from "@bridge/tooling/test-dynamodb";
import { createTable } from "../../../src/client/create-table.ts";
import { DynamoClient, type DynamoOptions } from "../../../src/client/dynamo-client.ts";
import { type TableDescription } from "../../../src/client/table-description.ts";

/** Waits between tries are 0. */
export const AT_ONCE: Random = { next: () => 0, id: () => "id" };

export function notesTable(name: string): TableDescription {
  return {
    name,
    key: { partition: { name: "id", type: "S" } },
    indexes: [
      {
        name: "by_time",
        key: { partition: { name: "shard", type: "S" }, sort: { name: "at", type: "N" } },
        projection: ["title"],
      },
    ],
    ttlAttribute: "expires_at",
  };
}

export function clientOf(dynamo: TestDynamo, options: Partial<DynamoOptions> = {}): DynamoClient {
  return new DynamoClient({ ...optionsOf(dynamo), ...options });
}

export function optionsOf(dynamo: TestDynamo) {
  return { clock: patientClock, random: AT_ONCE, logger: silentLogger, sdk: dynamo.sdk };
}

export async function makeNotes(dynamo: TestDynamo, name: string): Promise<void> {
  await using client = clientOf(dynamo);
  await createTable(notesTable(name), client, systemClock, AbortSignal.timeout(PATIENCE.timeout));
  dynamo.reset();
}

export function putNote(table: string, id: string, text: string): PutItemCommand {
  return new PutItemCommand({
    TableName: table,
    Item: { id: { S: id }, text: { S: text } },
    ConditionExpression: "attribute_not_exists(id)",
  });
}

export function getNote(table: string, id: string): GetItemCommand {
  return new GetItemCommand({ TableName: table, Key: { id: { S: id } }, ConsistentRead: true });
}
