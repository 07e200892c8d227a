import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { expect, test } from "vitest";
import { makeTables, openLeases } from "./support/leases.ts";

const signal = AbortSignal.timeout(60_000);
const LEASE = { holder: "a", token: 1, beat: 1, ttlMs: 20_000 };
const NEXT = { ...LEASE, beat: 2 };

test.skipIf(noPostgres).each([
  ["INSERT", undefined, LEASE],
  ["UPDATE", LEASE, NEXT],
] as const)("a lease that a trigger keeps from %s is not said to be somebody else's", async (on, before, next) => {
  await using schema = await testSchema();
  await makeTables(schema.connection);
  await using store = await openLeases(schema.connection);
  const name = schema.connection.schema;
  if (before !== undefined) await store.replace("key", undefined, before, signal);
  await schema.rows(
    `CREATE FUNCTION ${name}.keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
     CREATE TRIGGER keeps BEFORE ${on} ON ${name}.leases FOR EACH ROW EXECUTE FUNCTION ${name}.keep()`,
  );
  await expect(store.replace("key", before, next, signal)).rejects.toThrow("take away the trigger");
  await schema.rows(`DROP TRIGGER keeps ON ${name}.leases`);
  expect(await store.replace("key", before, next, signal)).toBe(true);
  expect(await store.replace("key", before, next, signal)).toBe(false);
});

test.skipIf(noPostgres)("a lease is not given to two when somebody has dropped the key of the table", async () => {
  await using schema = await testSchema();
  await makeTables(schema.connection);
  await using store = await openLeases(schema.connection);
  const name = schema.connection.schema;
  await schema.rows(`ALTER TABLE ${name}.leases DROP CONSTRAINT leases_pkey`);
  await expect(store.replace("key", undefined, LEASE, signal)).rejects.toThrow("somebody else has changed");
  await expect(openLeases(schema.connection)).rejects.toThrow("lacks: index leases_pkey");
});
