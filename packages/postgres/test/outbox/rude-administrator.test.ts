import type { OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Connection, makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, recordOf } from "./support/records.ts";

const signal = AbortSignal.timeout(300_000);
const HANGS_UP = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename =";

/** What somebody does to the server under an open store, what the store says, and what undoes it. */
interface Rudeness {
  readonly does: string;
  /** `S` is the schema, and the role of the bridge. */
  readonly sql: string;
  readonly undo: string;
  /** Of the error of the first call, and of health. Default: nothing goes wrong. */
  readonly says?: RegExp;
  /** Whether a call is told at once: else it is tried again, or has not failed before it was looked at. */
  readonly refused?: false;
}

const RUDE: readonly Rudeness[] = [
  {
    does: "renames a table",
    sql: "ALTER TABLE S.outbox_queue RENAME TO away",
    undo: "ALTER TABLE S.away RENAME TO outbox_queue",
    says: /make the tables/,
  },
  {
    does: "gives a column another type",
    sql: "ALTER TABLE S.outbox_queue ALTER key_hash TYPE bytea USING NULL",
    undo: "ALTER TABLE S.outbox_queue ALTER key_hash TYPE uuid USING NULL",
    says: /somebody else has changed a column/,
  },
  {
    does: "drops a function",
    sql: "ALTER FUNCTION S.outbox_persist RENAME TO away",
    undo: "ALTER FUNCTION S.away RENAME TO outbox_persist",
    says: /somebody else has changed a column, a key or a function/,
  },
  {
    does: "drops the index of identities",
    sql: "ALTER INDEX S.outbox_record_by_identity RENAME TO away; DROP INDEX S.away",
    undo: "CREATE UNIQUE INDEX outbox_record_by_identity ON S.outbox_record (identity)",
    says: /somebody else has changed a column, a key/,
  },
  {
    does: "adds a constraint",
    sql: "ALTER TABLE S.outbox_record ADD CONSTRAINT mine CHECK (id = '') NOT VALID",
    undo: "ALTER TABLE S.outbox_record DROP CONSTRAINT mine",
    says: /constraint that is not the bridge's.*constraint mine/,
  },
  {
    does: "takes a privilege",
    sql: "REVOKE INSERT ON S.outbox_record FROM S",
    undo: "GRANT INSERT ON S.outbox_record TO S",
    says: /grant the privileges/,
  },
  {
    does: "lets the role only read",
    sql: `ALTER ROLE S SET default_transaction_read_only = on; ${HANGS_UP} 'S'`,
    undo: "ALTER ROLE S RESET default_transaction_read_only",
    says: /default_transaction_read_only is on/,
    refused: false,
  },
  {
    does: "lets nothing be flushed for the role",
    sql: `ALTER ROLE S SET synchronous_commit = off; ${HANGS_UP} 'S'`,
    undo: `ALTER ROLE S RESET synchronous_commit; ${HANGS_UP} 'S'`,
    says: /synchronous_commit is off/,
    refused: false,
  },
  {
    does: "changes the type of a column that a prepared statement returns",
    sql: "ALTER TABLE S.outbox_record ALTER status TYPE int",
    undo: "ALTER TABLE S.outbox_record ALTER status TYPE smallint",
  },
  {
    does: "bounds the role's statements and transactions",
    sql: `ALTER ROLE S SET statement_timeout = 1; ALTER ROLE S SET idle_in_transaction_session_timeout = 1; ${HANGS_UP} 'S'`,
    undo: "ALTER ROLE S RESET ALL",
  },
  {
    does: "ends idle connections",
    sql: `ALTER ROLE S SET idle_session_timeout = 1000; ${HANGS_UP} 'S'; SELECT pg_sleep(2)`,
    undo: "ALTER ROLE S RESET ALL",
  },
  {
    does: "sets another search path",
    sql: `ALTER ROLE S SET search_path = nowhere; ${HANGS_UP} 'S'`,
    undo: "ALTER ROLE S RESET ALL",
  },
];

describe.skipIf(noPostgres)("an outbox under which somebody", () => {
  let tables: TestTables;
  let connection: Connection;
  const run = (sql: string) => tables.schema.rows(sql.replaceAll(/\bS\b/g, tables.connection.schema));

  beforeEach(async () => {
    tables = await makeTables();
    const { schema: name, url = "" } = tables.connection;
    const own = new URL(url);
    own.username = name;
    connection = { ...tables.connection, url: own.href };
    await run(`CREATE ROLE S LOGIN; GRANT USAGE ON SCHEMA S TO S; GRANT USAGE ON ALL SEQUENCES IN SCHEMA S TO S;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA S TO S`);
  });
  afterEach(async () => {
    await run("DROP OWNED BY S; DROP ROLE S");
    await tables[Symbol.asyncDispose]();
  });

  let names = 0;
  /** Everything that a drain does with a record. */
  async function useOf(store: OutboxStore): Promise<void> {
    const record = recordOf(`${names++}`);
    await store.persist([record], signal);
    await store.status(record.id, signal);
    const claims = await claimAll(store, signal);
    expect(claims.map((claim) => claim.record.id)).toContain(record.id);
    expect(await store.finish(claims.map(done), signal)).not.toContain(false);
    expect(await store.status(record.id, signal)).toBe("done");
  }

  test.each(RUDE)(
    "$does: says so, and goes on by itself when it is over",
    async ({ sql, undo, says, refused = true }) => {
      await using store = await openOn(connection);
      // Connections have prepared their statements.
      await useOf(store);
      await useOf(store);
      await run(sql);
      if (says === undefined) await useOf(store);
      else {
        if (refused) await expect(store.persist([recordOf(`${names++}`)], signal)).rejects.toThrow(says);
        await store.prove?.();
        expect(store.health?.().fault).toMatch(says);
      }
      await run(undo);
      await store.prove?.();
      await store.prove?.();
      expect(store.health?.().fault).toBeUndefined();
      await useOf(store);
      expect(await store.backlog(signal)).toEqual([]);
    },
  );
});
