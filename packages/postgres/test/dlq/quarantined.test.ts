import { deadLetter } from "@bridge/conformance";
import type { DeadLetterQuery } from "@bridge/ports";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { describe, expect, test } from "vitest";
import type { PostgresDlq } from "../../src/dlq/open-postgres-dlq.ts";
import { makeTables, openDlq, rowsOf } from "./support/dlq.ts";

const { signal } = new AbortController();

describe.skipIf(noPostgres)("operators 2: quarantined dead letters on PostgreSQL", () => {
  test("of tables that an older release has made are counted by an index, once the tables are brought up to date", async () => {
    await using schema = await filled(5, 2);
    const { schema: name } = schema.connection;
    await schema.rows(`DROP INDEX ${name}.dead_letters_quarantined`);
    await schema.rows(`DELETE FROM ${name}.migrations WHERE store = 'dlq' AND version = 2`);
    await expect(openDlq(schema.connection)).rejects.toThrow("are of version 1, needed is 2");
    await makeTables(schema.connection);
    await using store = await openDlq(schema.connection);
    expect(await counted(store, { quarantined: true })).toMatchObject({ total: 2, exact: true });
    expect(await counted(store, { quarantined: false })).toMatchObject({ total: 3, exact: true });
  });

  test("are left out of the count of more entries than anybody looks at", async () => {
    await using schema = await filled(2, 1);
    const entries = `${schema.connection.schema}.dead_letters`;
    await schema.rows(
      rowsOf(entries, { id: "'n' || n", marks: `CASE WHEN n % 100 = 0 THEN '{"quarantined":true}' END` }, 20_500),
    );
    await using store = await openDlq(schema.connection, { facetsKeptMs: 0 });
    expect(await counted(store, { quarantined: false, routeId: "r" })).toMatchObject({ total: 20_295, exact: true });
    const some = { since: 1_000, before: 2_000, quarantined: false };
    expect(await counted(store, some)).toMatchObject({ total: 990, oldestFailedAt: 1_001, newestFailedAt: 1_999 });
    expect(await counted(store, { ...some, quarantined: true })).toMatchObject({ total: 10, exact: true });
  });

  test("are counted by what is listed, whatever somebody has made of the marks", async () => {
    await using schema = await filled(6, 5);
    const changes = [`'{'`, `marks || '}'`, `jsonb_set(marks::jsonb, '{assignee}', '"alice"')::text`, "NULL"];
    for (const [n, change] of changes.entries())
      await schema.rows(`UPDATE ${schema.connection.schema}.dead_letters SET marks = ${change} WHERE id = 'e${n}'`);
    await using store = await openDlq(schema.connection);
    for (const quarantined of [true, false]) {
      const { entries } = await store.page({ quarantined }, { limit: 10, budget: 10, order: "oldest" }, signal);
      expect(entries.map(({ id }) => id)).toEqual(quarantined ? ["e1", "e2", "e4"] : ["e0", "e3", "e5"]);
      expect(await counted(store, { quarantined })).toMatchObject({ total: 3, exact: true });
    }
    // What is added to marks that cannot be read leaves the entry where it was.
    await store.marks.mark(new Map(["e0", "e1"].map((id) => [id, { assignee: "bob" }])), signal);
    expect((await store.get("e0", signal))?.marks).toEqual({ assignee: "bob" });
    expect((await store.get("e1", signal))?.marks).toEqual({ assignee: "bob", quarantined: true });
  });
});

async function filled(count: number, quarantined: number): Promise<TestSchema> {
  const schema = await testSchema();
  await makeTables(schema.connection);
  await using store = await openDlq(schema.connection);
  const ids = Array.from({ length: count }, (_, n) => `e${n}`);
  for (const id of ids) await store.put(deadLetter(id), signal);
  await store.marks.mark(new Map(ids.slice(0, quarantined).map((id) => [id, { quarantined: true }])), signal);
  return schema;
}

function counted(store: PostgresDlq, query: DeadLetterQuery) {
  return store.facets({ query, by: ["routeId"], maxGroups: 10, buckets: 0 }, signal);
}
