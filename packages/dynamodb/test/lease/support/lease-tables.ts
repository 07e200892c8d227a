import { PATIENCE } from "@bridge/tooling/patience";
import { createTable } from "../../../src/client/create-table.ts";
import { DynamoClient } from "../../../src/client/dynamo-client.ts";
import { patientClock } from "@bridge/conformance";
import { type LeaseStore, type Random, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import type { TestDynamo } from "@bridge/tooling/test-dynamodb";
import { type DynamodbLeasesOptions, openDynamodbLeases } from "../../../src/lease/open-dynamodb-leases.ts";
import { leaseTable } from "../../../src/lease/lease-table.ts";

/** Waits between tries are 0. */
export const AT_ONCE: Random = { ...systemRandom(), next: () => 0 };
const SEAMS = { clock: patientClock, random: AT_ONCE, logger: silentLogger };

let tables = 0;

/** The name of a table that is empty. */
export async function makeTable(dynamo: TestDynamo): Promise<string> {
  const name = `leases-${tables++}`;
  await using client = new DynamoClient({ ...SEAMS, sdk: dynamo.sdk });
  await createTable(leaseTable(name), client, systemClock, AbortSignal.timeout(PATIENCE.timeout));
  dynamo.reset();
  return name;
}

export function openLeases(
  dynamo: TestDynamo,
  table: string,
  more: Partial<DynamodbLeasesOptions> = {},
): Promise<LeaseStore> {
  const options = { ...SEAMS, sdk: dynamo.sdk, tableName: table, ...more };
  return openDynamodbLeases(options, AbortSignal.timeout(PATIENCE.timeout));
}
