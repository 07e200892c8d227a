import { readClientTls, deadline, orAborted } from "@bridge/ports/internal";
import { BridgeError, type Logger, systemClock } from "@bridge/ports";
import { escapeIdentifier } from "pg";
import type { ConnectionOptions } from "./connection-options.ts";
import { areTablesGone, keyOf, missingOf, neededBy, THERE } from "./needed.ts";
import { PostgresClient, type PostgresOptions } from "./postgres-client.ts";
import { type Keeping, keepingOf, VERSIONS, wrongWith } from "./keeping.ts";
import type { Privileges } from "./privileges.ts";
import { incomplete, missing, refuseNewer } from "./refusals.ts";

/** How the tables of one store came to be: each step once, in this order, for ever. */
export interface Migrations {
  /** Which store they are of, such as `lease`. */
  readonly store: string;
  /** The statements of each version, the first one's number being 1. `table` quotes the name of a table. */
  readonly steps: readonly ((table: (name: string) => string) => string)[];
  /** What statements do with them. */
  readonly needs: Privileges;
}

/** What a call of {@link migrate} has found and done. */
export interface Migrated {
  /** 0: there were none. */
  readonly from: number;
  readonly to: number;
}

/** Names the lock for all bridges on this database: "bridge" as a number. */
const LOCK = 0x627269646765;
/** An index on a large table takes its time. */
const MIGRATE_TIMEOUT_MS = 300_000;
/** Starting does not wait longer for a server that does not answer. */
const CHECK_TIMEOUT_MS = 5_000;

/**
 * Makes the schema and the tables, or brings them up to date; all of it or nothing. Idempotent, also when several do it
 * at once: they take turns. A store whose tables are all gone is made anew.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when some of them are gone, `SCHEMA_VIOLATION` when they are of a newer bridge,
 * `FORBIDDEN` when the user may not make them
 */
export async function migrate(migrations: Migrations, client: PostgresClient, signal: AbortSignal): Promise<Migrated> {
  const { store, steps } = migrations;
  const table = (name: string): string => client.table(name);
  return client.transaction(
    `making the tables of the store ${store}`,
    async (transaction) => {
      const run = (text: string, values: readonly unknown[] = []) =>
        transaction.query<{ found: number; key: string }>({ text, values });
      await run("SELECT pg_advisory_xact_lock($1)", [LOCK]);
      // To say IF NOT EXISTS needs the privilege to make one, also when there is one.
      const { count: schemas } = await run("SELECT 1 FROM pg_namespace WHERE nspname = $1", [client.schema]);
      if (schemas === 0) await run(`CREATE SCHEMA ${escapeIdentifier(client.schema)}`);
      const { rows: tables } = await run("SELECT (to_regclass($1) IS NOT NULL)::int AS found", [table(VERSIONS)]);
      if (tables[0]?.found !== 1) {
        await run(
          `CREATE TABLE ${table(VERSIONS)} (
            store text NOT NULL,
            version int NOT NULL,
            made_at timestamptz NOT NULL DEFAULT now(),
            PRIMARY KEY (store, version)
          )`,
        );
      }
      const { rows } = await run(versionOf(client), [store]);
      let from = rows[0]?.found ?? 0;
      refuseNewer(migrations, from, client);
      const parts = neededBy({ ...migrations, steps: steps.slice(0, from) });
      const { rows: keys } = await run(THERE, [client.schema]);
      const there = new Set(keys.map(({ key }) => key));
      const lacks = missingOf(parts, there);
      if (lacks.length > 0) {
        if (!areTablesGone(parts, lacks)) throw incomplete(migrations, parts, lacks, client);
        for (const { kind, name } of parts.filter((one) => !("table" in one) && there.has(keyOf(one)))) {
          await run(`DROP ${kind} ${table(name)}`);
        }
        await run(`DELETE FROM ${table(VERSIONS)} WHERE store = $1`, [store]);
        from = 0;
      }
      for (const [index, step] of steps.entries()) {
        const version = index + 1;
        if (version <= from) continue;
        await run(step(table));
        await run(`INSERT INTO ${table(VERSIONS)} (store, version) VALUES ($1, $2)`, [store, version]);
      }
      return { from, to: steps.length };
    },
    signal,
    { timeoutMs: MIGRATE_TIMEOUT_MS, repeatable: true },
  );
}

/**
 * A client for a store whose tables are there and of this version. When the server cannot be asked at the moment, or does
 * not let us, the client is given all the same: calls fail until it can, and {@link PostgresClient.health} tells of it.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when there are no such tables, `SCHEMA_VIOLATION` when they are of another
 * version, or when the server does not keep what is written as it has to; `UNAVAILABLE` when a
 * file of `tls` cannot be used; each names the remedy
 */
export async function openPostgres(
  connection: ConnectionOptions,
  migrations: Migrations,
  options: PostgresOptions & { readonly logger: Logger },
  signal: AbortSignal,
): Promise<PostgresClient> {
  signal.throwIfAborted();
  if (connection.tls !== undefined) await orAborted(readClientTls(connection.tls), signal);
  const client = new PostgresClient(connection, { ...options, migrations });
  try {
    await check(migrations, client, options.logger, signal);
    return client;
  } catch (error) {
    await client[Symbol.asyncDispose]();
    throw error;
  }
}

async function check(
  migrations: Migrations,
  client: PostgresClient,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const { store, steps } = migrations;
  const late = new BridgeError("TIMEOUT", `${client.label}: no answer within ${CHECK_TIMEOUT_MS} ms`);
  using limit = deadline(systemClock, CHECK_TIMEOUT_MS, late);
  try {
    const bound = AbortSignal.any([signal, limit.signal]);
    const statement = {
      what: `looking for the tables of the store ${store}`,
      text: versionOf(client),
      values: [store],
    };
    const { rows } = await client.query<{ found: number }>(statement, bound);
    const version = rows[0]?.found ?? 0;
    const { rows: keeping } = await client.query<Keeping>(
      { ...statement, ...keepingOf(migrations, client.schema) },
      bound,
    );
    const wrong = keeping[0] && wrongWith(keeping[0]);
    if (wrong !== undefined) throw new BridgeError("SCHEMA_VIOLATION", `${client.label}: ${wrong}`);
    refuseNewer(migrations, version, client);
    if (version < steps.length) throw missing(migrations, version, client);
    const { rows: keys } = await client.query<{ key: string }>(
      { ...statement, text: THERE, values: [client.schema] },
      bound,
    );
    const parts = neededBy(migrations);
    const lacks = missingOf(parts, new Set(keys.map(({ key }) => key)));
    if (areTablesGone(parts, lacks)) throw missing(migrations, 0, client);
    if (lacks.length > 0) throw incomplete(migrations, parts, lacks, client);
    // Its health tells of it.
    await client.denied(migrations, bound);
  } catch (thrown) {
    signal.throwIfAborted();
    // That there was no answer in time says less than what the last try met.
    const error = (limit.signal.aborted ? client.failure : undefined) ?? BridgeError.from(thrown);
    if (error.code === "DESTINATION_NOT_FOUND" || error.code === "SCHEMA_VIOLATION") throw error;
    logger.warn("the tables could not be looked at: the store is opened all the same", {
      server: client.label,
      code: error.code,
      error: error.message,
    });
  }
}

function versionOf(client: PostgresClient): string {
  return `SELECT coalesce(max(version), 0)::int AS found FROM ${client.table(VERSIONS)} WHERE store = $1`;
}
