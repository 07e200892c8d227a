import { BridgeError, type Clock, type LeaseRecord, type LeaseStore, type Logger, type Random } from "@bridge/ports";
import { type ConnectionOptions } from "../client/connection-options.ts";
import { openPostgres } from "../client/migrations.ts";
import { type Statement } from "../client/statement.ts";
import type { WriteTrial } from "../client/write-trial.ts";
import { LEASE_TABLES } from "./lease-tables.ts";

export interface PostgresLeasesOptions {
  /** The server, and the schema with {@link LEASE_TABLES}. */
  readonly connection: ConnectionOptions;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** How long one try may take, in milliseconds. Default: 1.5 s. */
  readonly tryTimeoutMs?: number | undefined;
}

interface Row {
  readonly holder: string;
  readonly token: number;
  readonly beat: number;
  readonly ttl_ms: number;
  readonly written: string;
}

/** A holder has to hear soon whether it still holds its lease: a lost answer must not use up its time. */
const TRY_TIMEOUT_MS = 1_500;

/**
 * Leases in a table that all instances share. A replacement is one conditional statement, so the row decides every race,
 * also against a statement that was given up and is made late. An answer that was lost is looked up: the caller is told
 * what became of its own write.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when the table is missing, `SCHEMA_VIOLATION` when it is of another version
 */
export async function openPostgresLeases(options: PostgresLeasesOptions, signal: AbortSignal): Promise<LeaseStore> {
  const { connection, random, ...rest } = options;
  const { tryTimeoutMs = TRY_TIMEOUT_MS } = options;
  const seams = { ...rest, random, tryTimeoutMs, longestTryMs: tryTimeoutMs, trial: LEASE_TRIAL };
  const client = await openPostgres(connection, LEASE_TABLES, seams, signal);
  const table = client.table("leases");

  async function find(key: string, caller: AbortSignal): Promise<Row | undefined> {
    const text = `SELECT holder, token, beat, ttl_ms, written FROM ${table} WHERE key = $1`;
    const { rows } = await client.query<Row>({ what: "reading a lease", text, values: [key] }, caller);
    return rows[0];
  }

  return {
    async read(key, caller) {
      const row = await find(key, caller);
      return row && { holder: row.holder, token: row.token, beat: row.beat, ttlMs: row.ttl_ms };
    },
    async replace(key, expected, next, caller) {
      const written = random.id();
      const { count, unsure } = await client.query(replacement(table, key, expected, next, written), caller);
      if (count === 1 || !unsure) return count === 1;
      // The condition met either our own write, whose answer was lost, or somebody else's.
      if ((await find(key, caller))?.written === written) return true;
      throw new BridgeError("CONNECTION_LOST", `whether lease ${key} was replaced is unknown: no answer came in time`, {
        charged: false,
      });
    },
    health: () => client.health(),
    prove: () => client.prove(),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

function replacement(
  table: string,
  key: string,
  expected: LeaseRecord | undefined,
  { holder, token, beat, ttlMs }: LeaseRecord,
  written: string,
): Statement {
  const values = [key, holder, token, beat, ttlMs, written];
  if (expected === undefined) {
    const text = `INSERT INTO ${table} (key, holder, token, beat, ttl_ms, written)
      VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (key) DO NOTHING`;
    const proof = { text: `SELECT 1 FROM ${table} WHERE key = $1`, values: [key] };
    return { what: "taking a lease", text, values, proof };
  }
  const text = `UPDATE ${table} SET holder = $2, token = $3, beat = $4, ttl_ms = $5, written = $6
    WHERE key = $1 AND token = $7 AND beat = $8`;
  // It is somebody else's now, or the row would have changed.
  const held = `SELECT 1 FROM ${table} WHERE key = $1 AND token = $2 AND beat = $3`;
  const proof = { text: `SELECT 1 WHERE NOT EXISTS (${held})`, values: [key, expected.token, expected.beat] };
  return { what: "replacing a lease", text, values: [...values, expected.token, expected.beat], proof };
}

const LEASE_TRIAL: WriteTrial = {
  write: (table) => `INSERT INTO ${table("leases")} (key, holder, token, beat, ttl_ms, written)
    SELECT 'trial ' || random(), '', 0, 0, 0, 'trial' WHERE $1::int = 1`,
  ends: [(table) => `UPDATE ${table("leases")} SET beat = 1 WHERE key LIKE 'trial %' AND written = 'trial'`],
};
