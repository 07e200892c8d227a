import { deadLetter } from "@bridge/conformance";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import { makeTables, openDlq } from "./support/dlq.ts";

const { signal } = new AbortController();

describe.skipIf(noPostgres)("dead letters into whose table somebody lets nothing be written", () => {
  test.each([
    [
      "trigger",
      (name: string) =>
        `CREATE FUNCTION ${name}.eat() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
         CREATE TRIGGER eats BEFORE INSERT ON ${name}.dead_letters FOR EACH ROW EXECUTE FUNCTION ${name}.eat()`,
      (name: string) => `DROP TRIGGER eats ON ${name}.dead_letters`,
    ],
    [
      "rule",
      (name: string) => `CREATE RULE eats AS ON INSERT TO ${name}.dead_letters WHERE NEW.head <> '' DO INSTEAD NOTHING`,
      (name: string) => `DROP RULE eats ON ${name}.dead_letters`,
    ],
  ])("by a %s are not confirmed, and health says why", async (_, put, take) => {
    await using schema = await testSchema();
    await makeTables(schema.connection);
    await using store = await openDlq(schema.connection);
    const name = schema.connection.schema;
    const kept = deadLetter("kept");
    await store.put(kept, signal);
    await schema.rows(put(name));
    await expect(store.put(deadLetter("eaten"), signal)).rejects.toThrow("kept nothing of what it took");
    expect(store.health?.().fault).toContain("kept nothing of what it took");
    await schema.rows(take(name));
    await store.put(deadLetter("eaten"), signal);
    // One that is there already is confirmed without a write.
    await store.put(kept, signal);
    await store.prove?.();
    expect(store.health?.().fault).toBeUndefined();
    expect((await store.list({}, { limit: 10, offset: 0 }, signal)).map(({ id }) => id).toSorted()).toEqual([
      "eaten",
      "kept",
    ]);
  });
});

test.skipIf(noPostgres)("dead letters that a trigger keeps are not said to be deleted, nor to be gone", async () => {
  await using schema = await testSchema();
  await makeTables(schema.connection);
  await using store = await openDlq(schema.connection);
  const name = schema.connection.schema;
  for (const id of ["one", "other"]) await store.put(deadLetter(id), signal);
  await schema.rows(
    `CREATE FUNCTION ${name}.keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
     CREATE TRIGGER keeps BEFORE DELETE ON ${name}.dead_letters FOR EACH ROW EXECUTE FUNCTION ${name}.keep()`,
  );
  await expect(store.admin.delete(["one", "unknown"], signal)).rejects.toThrow("take away the trigger");
  await expect(store.admin.deleteWhere({}, undefined, signal)).rejects.toThrow("take away the trigger");
  expect(store.health?.().fault).toContain("kept nothing of what it took");
  await schema.rows(`DROP TRIGGER keeps ON ${name}.dead_letters`);
  expect(await store.admin.delete(["one", "unknown"], signal)).toEqual(new Set(["one"]));
  expect(await store.admin.deleteWhere({}, undefined, signal)).toBe(1);
});
