import { PATIENCE } from "@bridge/tooling/patience";
import { patientClock } from "@bridge/conformance";
import { type Random, silentLogger, systemRandom } from "@bridge/ports";
import { type ConnectionOptions } from "../../../src/client/connection-options.ts";
import { tableMaker } from "../../../src/client/table-maker.ts";
import { DLQ_TABLES } from "../../../src/dlq/dlq-tables.ts";
import { openPostgresDlq, type PostgresDlqOptions } from "../../../src/dlq/open-postgres-dlq.ts";

/** Waits between tries are 0. */
export const SEAMS = {
  clock: patientClock,
  random: { ...systemRandom(), next: () => 0 } satisfies Random,
  logger: silentLogger,
};

export async function makeTables(connection: ConnectionOptions): Promise<void> {
  await tableMaker(DLQ_TABLES)(connection, { ...SEAMS, id: "dlq" })(AbortSignal.timeout(PATIENCE.timeout));
}

export function openDlq(connection: ConnectionOptions, more: Partial<PostgresDlqOptions> = {}) {
  return openPostgresDlq({ ...SEAMS, connection, ...more }, AbortSignal.timeout(PATIENCE.timeout));
}
