import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PostgresClient } from "../../src/client/postgres-client.ts";
import { filtered } from "../../src/dlq/filtered.ts";
import { makeTables, openDlq, rowsOf } from "./support/dlq.ts";

const { signal } = new AbortController();
const ROWS = 102_000;
const FILTERS = [
  {},
  { routeId: "r1" },
  { category: "rejected" },
  { routeId: "r1", category: "rejected" },
  { routeId: "r1", category: "expired" },
  { since: 50_000, before: 60_000 },
  { routeId: "r1", since: 50_000 },
  { category: "permanent", before: 60_000 },
  { routeId: "r2", category: "permanent", since: 10, before: 101_000 },
] as const;

describe.skipIf(noPostgres)("of many dead letters", () => {
  let schema: TestSchema;
  let table = "";
  beforeAll(async () => {
    schema = await testSchema();
    await makeTables(schema.connection);
    table = `${schema.connection.schema}.dead_letters`;
    const columns = {
      id: "md5(n::text)",
      route_id: "'r' || n % 3",
      category: "CASE WHEN n % 2 = 0 THEN 'rejected' ELSE 'permanent' END",
      fingerprint: "'f' || n % 100",
      envelope_key: "decode(md5((n % 1000)::text), 'hex')",
    };
    await schema.rows(rowsOf(table, columns, ROWS));
    await schema.rows(`VACUUM ANALYZE ${table}`);
  });
  afterAll(() => schema[Symbol.asyncDispose]());

  test.each(FILTERS)(
    "a page is read from an index in its order, with little besides, filtered by %j",
    async (filter) => {
      const { condition, values } = filtered(filter, 0);
      const plan = await schema.rows<{ "QUERY PLAN": string }>(
        `EXPLAIN (ANALYZE) SELECT id FROM ${table} WHERE ${condition} ORDER BY failed_at, id LIMIT 100`,
        values,
      );
      const text = plan.map((line) => line["QUERY PLAN"]).join("\n");
      expect(text).toMatch(/Index (?:Only )?Scan using dead_letters_/);
      expect(text).not.toMatch(/Sort|Seq Scan/);
      // Which index is cheapest depends on what others have open: the server may pass over some, never over many.
      expect(Number(/Rows Removed by Filter: (\d+)/.exec(text)?.[1] ?? 0)).toBeLessThan(2_000);
    },
  );

  test.each([
    ...FILTERS.flatMap((filter) => [
      { filter, order: "oldest" as const },
      { filter, order: "newest" as const },
    ]),
    { filter: { fingerprint: "f7" }, order: "newest" },
    { filter: { envelopeId: "7" }, order: "oldest" },
    { filter: { correlationId: "7" }, order: "newest" },
  ] as const)(
    "operators 1.2: a page by key is read from an index from its place on, by %j",
    async ({ filter, order }) => {
      const asked = vi.spyOn(PostgresClient.prototype, "query");
      await using store = await openDlq(schema.connection);
      const after = { failedAt: 55_000, id: "8" };
      const { entries } = await store.page(filter, { limit: 100, order, after, budget: 1_000 }, signal);
      const statement = asked.mock.calls.map(([said]) => said).find(({ text }) => text.includes("failed_at, id) "));
      asked.mockRestore();
      expect(entries.every(({ failedAt }) => (order === "oldest" ? failedAt >= 55_000 : failedAt <= 55_000))).toBe(
        true,
      );
      const plan = await schema.rows<{ "QUERY PLAN": string }>(
        `EXPLAIN (ANALYZE) ${statement?.text ?? ""}`,
        statement?.values,
      );
      const text = plan.map((line) => line["QUERY PLAN"]).join("\n");
      expect(text).toMatch(/Index Cond: .*ROW\(failed_at, id\)/);
      expect(text).not.toMatch(/Seq Scan/);
      // Of few it may be cheaper to sort them.
      expect(Number(/Sort .*rows=(\d+) loops/.exec(text)?.[1] ?? 0)).toBeLessThanOrEqual(100);
      expect(Number(/Rows Removed by Filter: (\d+)/.exec(text)?.[1] ?? 0)).toBeLessThan(2_000);
    },
  );

  test("the farthest page that may be asked for is there", async () => {
    await using store = await openDlq(schema.connection);
    const page = await store.list({}, { limit: 1_000, offset: 100_000 }, signal);
    expect(page.map(({ failedAt }) => failedAt)).toEqual(Array.from({ length: 1_000 }, (_, i) => 100_001 + i));
    expect(await store.list({ routeId: "r9" }, { limit: 10, offset: 0 }, signal)).toEqual([]);
    expect(await store.count(1_001, signal)).toBe(1_001);
  });

  test("many are deleted in chunks, oldest first", async () => {
    await using store = await openDlq(schema.connection);
    expect(await store.admin.deleteWhere({ category: "rejected" }, 2_500, signal)).toBe(2_500);
    const [first] = await store.list({ category: "rejected" }, { limit: 1, offset: 0 }, signal);
    expect(first?.failedAt).toBe(5_002);
  });
});
