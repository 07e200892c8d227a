import { deadLetter } from "@bridge/conformance";
import type { TellsHealth } from "@bridge/ports";
import { noPostgres, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ConnectionOptions } from "../../src/client/connection-options.ts";
import { makeTables as makeDlqTables, openDlq } from "../dlq/support/dlq.ts";
import { makeTables as makeLeaseTables, openLeases } from "../lease/support/leases.ts";
import { makeTables as makeOutboxTables, openOn, type TestTables } from "../outbox/support/outbox.ts";
import { recordOf } from "../outbox/support/records.ts";

const signal = AbortSignal.timeout(120_000);

interface Opened extends AsyncDisposable, TellsHealth {
  /** Resolves when the store has confirmed something. */
  write(): Promise<unknown>;
}

interface Kind {
  readonly store: "outbox" | "dlq" | "lease";
  readonly tables: readonly string[];
  readonly open: (connection: ConnectionOptions) => Promise<Opened>;
}

const KINDS: readonly Kind[] = [
  {
    store: "outbox",
    tables: ["outbox_queue", "outbox_record", "outbox_number", "migrations"],
    async open(connection) {
      const store = await openOn(connection);
      return { ...store, write: () => store.persist([recordOf(crypto.randomUUID())], signal) };
    },
  },
  {
    store: "dlq",
    tables: ["dead_letters", "dead_letter_changes", "dead_letter_jobs", "dead_letter_trash"],
    async open(connection) {
      const store = await openDlq(connection);
      return { ...store, write: () => store.put(deadLetter(crypto.randomUUID()), signal) };
    },
  },
  {
    store: "lease",
    tables: ["leases"],
    async open(connection) {
      const store = await openLeases(connection);
      return { ...store, write: async () => {} };
    },
  },
];
const cases = KINDS.flatMap((kind) => kind.tables.map((table) => ({ ...kind, table })));

describe.skipIf(noPostgres)("a store whose table", () => {
  let tables: TestTables;
  let schema: TestSchema;
  let name: string;
  beforeEach(async () => {
    tables = await makeOutboxTables();
    ({ schema } = tables);
    name = schema.connection.schema;
    await makeDlqTables(schema.connection);
    await makeLeaseTables(schema.connection);
  });
  afterEach(() => tables[Symbol.asyncDispose]());

  test.each(cases)(
    "$table is made unlogged confirms nothing, and says so and why ($store)",
    async ({ open, table }) => {
      const kind = table === "outbox_number" ? "SEQUENCE" : "TABLE";
      const [away, back] = ["UNLOGGED", "LOGGED"].map((how) => `ALTER ${kind} ${name}.${table} SET ${how}`);
      await using store = await open(schema.connection);
      await store.write();
      await schema.rows(away ?? "");
      await store.prove?.();
      expect(store.health?.().fault).toContain(`a crash of the server would empty what is unlogged: ${back}`);
      if (table !== "leases") await expect(store.write()).rejects.toMatchObject({ code: "UNAVAILABLE" });
      await expect(open(schema.connection)).rejects.toMatchObject({
        code: "SCHEMA_VIOLATION",
        message: expect.stringContaining(`${back}`) as string,
      });
      await schema.rows(back ?? "");
      await store.prove?.();
      expect(store.health?.().fault).toBeUndefined();
      await store.write();
    },
  );

  test.each(cases.filter(({ table }) => table !== "outbox_number"))(
    "$table hides rows from the bridge's user says so and why ($store)",
    async ({ open, table }) => {
      const url = new URL(schema.connection.url);
      url.username = name;
      const connection = { ...schema.connection, url: url.href };
      await schema.rows(`CREATE ROLE ${name} LOGIN; GRANT USAGE ON SCHEMA ${name} TO ${name};
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${name} TO ${name};
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${name} TO ${name}`);
      try {
        await using store = await open(connection);
        await store.write();
        await schema.rows(
          `CREATE POLICY nobody ON ${name}.${table} USING (false) WITH CHECK (true);
           ALTER TABLE ${name}.${table} ENABLE ROW LEVEL SECURITY`,
        );
        await store.prove?.();
        const remedy = `ALTER TABLE ${name}.${table} DISABLE ROW LEVEL SECURITY; or ALTER ROLE … BYPASSRLS`;
        expect(store.health?.().fault).toContain(`row level security may hide rows from the bridge's user: ${remedy}`);
        if (table !== "leases") await expect(store.write()).rejects.toMatchObject({ code: "UNAVAILABLE" });
        await expect(open(connection)).rejects.toMatchObject({
          message: expect.stringContaining(remedy) as string,
        });
        await schema.rows(`ALTER ROLE ${name} BYPASSRLS`);
        await store.prove?.();
        expect(store.health?.().fault).toBeUndefined();
        await store.write();
      } finally {
        await schema.rows(`DROP OWNED BY ${name}; DROP ROLE ${name}`);
      }
    },
  );
});
