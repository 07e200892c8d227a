import assert from "node:assert/strict";
import { type LogFields, silentLogger, systemClock, systemRandom } from "@bridge/ports";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { type ConnectionOptions } from "../../src/client/connection-options.ts";
import { migrate, type Migrations, openPostgres } from "../../src/client/migrations.ts";
import { AT_ONCE, openClient } from "./support/clients.ts";
import { patientClock } from "@bridge/conformance";

const { signal } = new AbortController();
const FIRST: Migrations = {
  store: "notes",
  needs: {},
  steps: [(table) => `CREATE TABLE ${table("notes")} (id text); CREATE INDEX ON ${table("notes")} (id)`],
};
const SECOND: Migrations = {
  ...FIRST,
  steps: [...FIRST.steps, (table) => `ALTER TABLE ${table("notes")} ADD COLUMN size int`],
};

describe.skipIf(noPostgres)("migrations", () => {
  const open = (connection: ConnectionOptions, migrations: Migrations) =>
    openPostgres(connection, migrations, { clock: patientClock, random: AT_ONCE, logger: silentLogger }, signal);

  test("are made once, also by 20 at a time, and later ones are added", async () => {
    await using schema = await testSchema();
    await using client = openClient({ ...schema.connection, pool_size: 10 });
    const all = await Promise.all(Array.from({ length: 20 }, () => migrate(FIRST, client, signal)));
    expect(all.filter(({ from }) => from === 0)).toEqual([{ from: 0, to: 1 }]);
    expect(await migrate(SECOND, client, signal)).toEqual({ from: 1, to: 2 });
    expect(await migrate(SECOND, client, signal)).toEqual({ from: 2, to: 2 });
    expect(await schema.rows(`SELECT id, size FROM ${schema.connection.schema}.notes`)).toEqual([]);
    await using opened = await open(schema.connection, SECOND);
    expect(opened.health()).toEqual({ setAside: [] });
  });

  test("of which one fails leave nothing behind", async () => {
    await using schema = await testSchema();
    await using client = openClient(schema.connection);
    const broken = { ...SECOND, steps: [...SECOND.steps, () => "SELECT 1/0"] };
    await assert.rejects(migrate(broken, client, signal), { code: "REJECTED", message: /SQLSTATE 22012/ });
    const left = await schema.rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", [schema.connection.schema]);
    expect(left).toEqual([]);
  });

  test("that are missing are named with the remedy", async () => {
    await using schema = await testSchema();
    await assert.rejects(open(schema.connection, FIRST), {
      code: "DESTINATION_NOT_FOUND",
      message: /^looking for the tables of the store notes at .+: .*make the tables with `bridge -create-tables`/,
    });
    await using client = openClient(schema.connection);
    await migrate({ store: "others", needs: {}, steps: [] }, client, signal);
    await assert.rejects(open(schema.connection, FIRST), {
      code: "DESTINATION_NOT_FOUND",
      message: /has no tables of the store notes: make them with `bridge -create-tables`$/,
    });
    await migrate(FIRST, client, signal);
    await assert.rejects(open(schema.connection, SECOND), {
      code: "SCHEMA_VIOLATION",
      message: /are of version 1, needed is 2: make them with `bridge -create-tables`$/,
    });
  });

  test.each([
    ["column notes.size", "ALTER TABLE notes DROP COLUMN size"],
    ["index notes_by_id", "DROP INDEX notes_by_id"],
    ["sequence numbers", "DROP SEQUENCE numbers"],
    ["function noted", "DROP FUNCTION noted"],
    ["table more", "DROP TABLE more"],
  ])("that lack the %s are told by what they lack", async (lacks, drop) => {
    const whole: Migrations = {
      store: "notes",
      needs: {},
      steps: [
        ...SECOND.steps,
        (table) => `CREATE TABLE ${table("more")} (id text PRIMARY KEY);
          CREATE INDEX notes_by_id ON ${table("notes")} (id);
          CREATE SEQUENCE ${table("numbers")};
          CREATE FUNCTION ${table("noted")}() RETURNS int LANGUAGE sql AS 'SELECT 1'`,
      ],
    };
    await using schema = await testSchema();
    await using client = openClient(schema.connection);
    await migrate(whole, client, signal);
    expect(await migrate(whole, client, signal)).toEqual({ from: 3, to: 3 });
    await schema.rows(`SET search_path = ${schema.connection.schema}; ${drop}; RESET search_path`);
    const named = { code: "DESTINATION_NOT_FOUND", message: new RegExp(` lacks: ${lacks}: restore it`) };
    await assert.rejects(migrate(whole, client, signal), named);
    await assert.rejects(open(schema.connection, whole), named);
    await schema.rows(`DROP TABLE IF EXISTS ${schema.connection.schema}.notes, ${schema.connection.schema}.more`);
    expect(await migrate(whole, client, signal)).toEqual({ from: 0, to: 3 });
    await using opened = await open(schema.connection, whole);
    expect(opened.health()).toEqual({ setAside: [] });
  });

  test("of a newer bridge are not touched", async () => {
    await using schema = await testSchema();
    await using client = openClient(schema.connection);
    await migrate(SECOND, client, signal);
    const newer = {
      code: "SCHEMA_VIOLATION",
      message: /version 2, newer than this bridge knows \(1\): run the newer bridge$/,
    };
    await assert.rejects(migrate(FIRST, client, signal), newer);
    await assert.rejects(open(schema.connection, FIRST), newer);
  });

  test("a user that may not make a schema uses one that is there, and is told when it may not", async () => {
    await using schema = await testSchema();
    const { schema: name, url } = schema.connection;
    await schema.rows(`CREATE ROLE ${name} LOGIN`);
    try {
      const limited = new URL(url);
      limited.username = name;
      await using client = openClient({ ...schema.connection, url: limited.href });
      await assert.rejects(migrate(FIRST, client, signal), { code: "FORBIDDEN", message: /SQLSTATE 42501/ });
      await schema.rows(`CREATE SCHEMA ${name}`);
      await schema.rows(`GRANT USAGE, CREATE ON SCHEMA ${name} TO ${name}`);
      expect(await migrate(FIRST, client, signal)).toEqual({ from: 0, to: 1 });
    } finally {
      await schema.rows(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
      await schema.rows(`DROP ROLE ${name}`);
    }
  });

  test.each([
    ["does not wait for its disk", "synchronous_commit", "off", "on"],
    ["isolates more than statements bear", "default_transaction_isolation", "repeatable read", "'read committed'"],
    ["says that it isolates less", "default_transaction_isolation", "read uncommitted", "'read committed'"],
  ])("are not enough for a server that %s", async (_, setting, wrong, right) => {
    await using schema = await testSchema();
    const { schema: name, url } = schema.connection;
    await using client = openClient(schema.connection);
    await migrate(FIRST, client, signal);
    await schema.rows(`CREATE ROLE ${name} LOGIN`);
    try {
      await schema.rows(
        `GRANT USAGE ON SCHEMA ${name} TO ${name}; GRANT SELECT ON ALL TABLES IN SCHEMA ${name} TO ${name}`,
      );
      await schema.rows(`ALTER ROLE ${name} SET ${setting} = '${wrong}'`);
      const careless = new URL(url);
      careless.username = name;
      await assert.rejects(open({ ...schema.connection, url: careless.href }, FIRST), {
        code: "SCHEMA_VIOLATION",
        message: new RegExp(`${setting} is ${wrong} for the bridge's user.+: ALTER ROLE … SET ${setting} = ${right}$`),
      });
    } finally {
      await schema.rows(`DROP SCHEMA ${name} CASCADE`);
      await schema.rows(`DROP ROLE ${name}`);
    }
  });

  test("cannot be looked at while the server is away: the store is opened all the same, and says so", async () => {
    const warned: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => warned.push(message) };
    const away = { host: "127.0.0.1", port: 1, user: "me", schema: "s", pool_size: 1 };
    const options = { clock: patientClock, random: AT_ONCE, logger, callTimeoutMs: 1 };
    await using client = await openPostgres(away, FIRST, options, signal);
    expect(warned).toEqual(["the tables could not be looked at: the store is opened all the same"]);
    expect(client.health().fault).toContain("127.0.0.1:1");
  });

  test("finding 2.4: a server that refuses connections is named as such when the tables cannot be looked at", async () => {
    const lines: unknown[] = [];
    const logger = { ...silentLogger, warn: (_: string, fields?: LogFields) => lines.push(fields) };
    const away = { url: "postgresql://postgres@127.0.0.1:1/test", schema: "bridge", pool_size: 1 };
    await using client = await openPostgres(
      away,
      FIRST,
      { clock: systemClock, random: systemRandom(), logger },
      signal,
    );
    expect(lines).toMatchObject([
      { code: "CONNECTION_LOST", error: expect.stringContaining("nothing listens there") as string },
    ]);
    expect(client.failure?.code).toBe("CONNECTION_LOST");
  });
});
