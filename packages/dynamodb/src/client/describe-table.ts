import { DescribeTableCommand, type TableDescription as ActualTable } from "@aws-sdk/client-dynamodb";
import { BridgeError } from "@bridge/ports";
import type { DynamoClient } from "./dynamo-client.ts";
import type { TableDescription } from "./table-description.ts";
import { differencesOf } from "./table-differences.ts";

/** @throws BridgeError `DESTINATION_NOT_FOUND` when there is none */
export async function describeTable(name: string, client: DynamoClient, signal: AbortSignal): Promise<ActualTable> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }), signal);
  return Table ?? {};
}

/** @throws BridgeError `SCHEMA_VIOLATION` when the table is not as described, naming the differences */
export function requireLike(description: TableDescription, actual: ActualTable): void {
  const differences = differencesOf(description, actual);
  if (differences.length === 0) return;
  const remedy = "give the store a table of its own, made by bridge-aws -create-tables";
  throw new BridgeError("SCHEMA_VIOLATION", `table ${description.name}: ${differences.join("; ")}: ${remedy}`, {
    charged: false,
  });
}
