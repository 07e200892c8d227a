import { PATIENCE } from "@bridge/tooling/patience";
import { createTable, DynamoClient } from "@bridge/dynamodb";
import { patientClock } from "@bridge/conformance";
import { type Random, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import type { TestDynamo } from "@bridge/tooling/test-dynamodb";
import { dlqTable, type DynamodbDlqOptions, openDynamodbDlq } from "../../src/index.ts";
import type { DynamodbDlq } from "../../src/open-dynamodb-dlq.ts";

/** Waits between tries are 0. */
export const AT_ONCE: Random = { ...systemRandom(), next: () => 0 };
export const SEAMS = { clock: patientClock, random: AT_ONCE, logger: silentLogger };

let tables = 0;

/** The name of a table that is empty. */
export async function makeTable(dynamo: TestDynamo): Promise<string> {
  const name = `dead-letters-${tables++}`;
  await using client = new DynamoClient({ ...SEAMS, sdk: dynamo.sdk });
  await createTable(dlqTable(name), client, systemClock, AbortSignal.timeout(PATIENCE.timeout));
  dynamo.reset();
  return name;
}

export function openDlq(
  dynamo: TestDynamo,
  table: string,
  more: Partial<DynamodbDlqOptions> = {},
): Promise<DynamodbDlq> {
  return openDynamodbDlq(
    { ...SEAMS, sdk: dynamo.sdk, tableName: table, ...more },
    AbortSignal.timeout(PATIENCE.timeout),
  );
}
