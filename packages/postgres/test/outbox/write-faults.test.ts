import { BridgeError, type OutboxStore, systemClock } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { describe, test } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, idsOf, recordOf } from "./support/records.ts";

const { signal } = new AbortController();
/** Within which an idle store has to know; a look is every 3 s and takes no more than 5. */
const KNOWN_MS = 12_000;

interface Fault {
  readonly begin: (schema: string) => string;
  readonly end: (schema: string) => string;
}

/** In all of them the server answers, reads, and takes no record. */
const FAULTS: Readonly<Record<string, Fault>> = {
  "has become a standby": {
    begin: (schema) => `ALTER ROLE ${schema} SET default_transaction_read_only = on; ${endSessions(schema)}`,
    end: (schema) => `ALTER ROLE ${schema} RESET default_transaction_read_only; ${endSessions(schema)}`,
  },
  "lets it insert no more": {
    begin: (schema) => `REVOKE INSERT ON ${schema}.outbox_queue FROM ${schema}`,
    end: (schema) => `GRANT INSERT ON ${schema}.outbox_queue TO ${schema}`,
  },
  "has another table in that place": {
    begin: (schema) => `ALTER TABLE ${schema}.outbox_record RENAME TO former_record`,
    end: (schema) => `ALTER TABLE ${schema}.former_record RENAME TO outbox_record`,
  },
  // As a table space without room, which shows when there is a row only.
  "has no room for a row": {
    begin: (schema) => `
      CREATE FUNCTION ${schema}.no_room() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER no_room BEFORE INSERT ON ${schema}.outbox_queue FOR EACH ROW EXECUTE FUNCTION ${schema}.no_room()`,
    end: (schema) => `DROP FUNCTION ${schema}.no_room CASCADE`,
  },
};

describe.skipIf(noPostgres).concurrent("an outbox that reads while its server", { timeout: 120_000 }, () => {
  test.for(Object.entries(FAULTS))(
    "%s says so all along, and is well again by itself",
    async ([name, fault], { expect }) => {
      await using tables = await makeTables();
      await using store = await openAs(tables);
      const { schema } = tables.connection;
      await claimAll(store, signal);
      using reading = readOn(store);
      await tables.schema.rows(fault.begin(schema));
      // Nothing shows the lack of room but a row.
      if (name.includes("room")) await tried(store);
      await expect.poll(() => store.health?.().fault, { timeout: KNOWN_MS }).toBeDefined();
      for (let times = 0; times < 4; times++) {
        if (times % 2 === 1) await tried(store);
        for (let look = 0; look < 20; look++) {
          await systemClock.delay(100, signal);
          expect(store.health?.().fault).toBeDefined();
        }
      }
      await tables.schema.rows(fault.end(schema));
      await expect.poll(() => store.health?.().fault, { timeout: KNOWN_MS }).toBeUndefined();
      const record = recordOf("after");
      await store.persist([record], signal);
      reading[Symbol.dispose]();
      expect(idsOf(await claimAll(store, signal))).toContain(record.id);
      const left = await tables.schema.rows(`SELECT 1 FROM ${schema}.outbox_record WHERE id = 'trial'`);
      expect(left).toEqual([]);
    },
  );
});

/** With a user of its own, that has the privileges which the documents name. */
async function openAs(tables: TestTables): Promise<OutboxStore & AsyncDisposable> {
  const { connection, schema: server } = tables;
  const { schema } = connection;
  await server.rows(`CREATE ROLE ${schema} LOGIN;
    GRANT USAGE ON SCHEMA ${schema} TO ${schema};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${schema};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO ${schema}`);
  const url = new URL(connection.url ?? "");
  url.username = schema;
  const store = await openOn({ ...connection, url: url.href }, { postgres: { clock: systemClock } });
  return {
    ...store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]();
      await server.rows(`DROP OWNED BY ${schema}; DROP ROLE ${schema}`);
    },
  };
}

function endSessions(user: string): string {
  return `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${user}'`;
}

/** A read all along, as of an operator who looks. */
function readOn(store: OutboxStore): Disposable {
  return systemClock.every(250, () => void store.list({}, { limit: 1, offset: 0 }, signal).catch(() => {}));
}

async function tried(store: OutboxStore): Promise<void> {
  const thrown: unknown = await store.persist([recordOf("tried")], AbortSignal.timeout(2_000)).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown === undefined) throw new BridgeError("INTERNAL", "it was taken");
}
