import { PATIENCE } from "@bridge/tooling/patience";
import { patientClock } from "@bridge/conformance";
import { type LeaseStore, type Random, silentLogger, systemRandom } from "@bridge/ports";
import { type ConnectionOptions } from "../../../src/client/connection-options.ts";
import { tableMaker } from "../../../src/client/table-maker.ts";
import { LEASE_TABLES } from "../../../src/lease/lease-tables.ts";
import { openPostgresLeases, type PostgresLeasesOptions } from "../../../src/lease/open-postgres-leases.ts";

/** Waits between tries are 0. */
export const SEAMS = {
  clock: patientClock,
  random: { ...systemRandom(), next: () => 0 } satisfies Random,
  logger: silentLogger,
};

export async function makeTables(connection: ConnectionOptions): Promise<void> {
  await tableMaker(LEASE_TABLES)(connection, { ...SEAMS, id: "lease" })(AbortSignal.timeout(PATIENCE.timeout));
}

export function openLeases(
  connection: ConnectionOptions,
  more: Partial<PostgresLeasesOptions> = {},
): Promise<LeaseStore> {
  return openPostgresLeases({ ...SEAMS, connection, ...more }, AbortSignal.timeout(PATIENCE.timeout));
}
