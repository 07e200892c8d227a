import { patientClock } from "@bridge/conformance";
import {
  type Clock,
  type Logger,
  type OutboxStore,
  type Random,
  silentLogger,
  systemClock,
  systemRandom,
} from "@bridge/ports";
import { migrate } from "../../../src/client/migrations.ts";
import { PostgresClient, type PostgresOptions } from "../../../src/client/postgres-client.ts";
import { testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { openPostgresOutbox, type PostgresOutboxOptions } from "../../../src/outbox/open-postgres-outbox.ts";
import { OUTBOX_MIGRATIONS } from "../../../src/outbox/outbox-tables.ts";

const signal = new AbortController().signal;

export type Connection = PostgresOutboxOptions["connection"];

/** Tables that nobody else uses. */
export interface TestTables extends AsyncDisposable {
  readonly schema: TestSchema;
  readonly connection: Connection;
  empty(): Promise<void>;
}

export async function makeTables(url?: string): Promise<TestTables> {
  const schema = await testSchema(url);
  const { connection } = schema;
  await using client = new PostgresClient(connection, { clock: patientClock, random: systemRandom() });
  await migrate(OUTBOX_MIGRATIONS, client, signal);
  const tables = ["record", "queue", "spoiled"].map((name) => client.table(`outbox_${name}`));
  return {
    schema,
    connection,
    // Beside TRUNCATE, which makes new files, a delete of some rows is nothing.
    empty: async () => void (await schema.rows(tables.map((table) => `DELETE FROM ${table}`).join("; "))),
    [Symbol.asyncDispose]: () => schema[Symbol.asyncDispose](),
  };
}

export interface OpenOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly logger?: Logger;
  readonly retentionMs?: number;
  readonly postgres?: Partial<PostgresOptions>;
}

/** A handle on the tables; statements go by a time that a slow machine does not run out of. */
export function openOn(connection: Connection, options: OpenOptions = {}): Promise<OutboxStore> {
  const {
    clock = systemClock,
    random = systemRandom(),
    retentionMs = 3_600_000,
    logger = silentLogger,
    postgres,
  } = options;
  return openPostgresOutbox(
    {
      connection,
      retentionMs,
      clock,
      random,
      logger,
      postgres: { clock: patientClock, ...postgres },
    },
    signal,
  );
}
