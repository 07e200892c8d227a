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

/** Rows from a number of `generate_series`, `n`: each column of the table as an expression of it. */
export function rowsOf(table: string, columns: Readonly<Record<string, string>>, count: number): string {
  const row: Record<string, string> = {
    id: "'id-' || n",
    route_id: "'r'",
    binding_id: "'b'",
    category: "'permanent'",
    error_code: "'FORBIDDEN'",
    failed_at: "n",
    fingerprint: "''",
    envelope_key: "''",
    correlation_key: "''",
    head: "'{}'",
    envelope: "'[]'",
    payload: "''",
    ...columns,
  };
  return `INSERT INTO ${table} (${Object.keys(row).join(", ")})
    SELECT ${Object.values(row).join(", ")} FROM generate_series(1, ${count}) n`;
}
