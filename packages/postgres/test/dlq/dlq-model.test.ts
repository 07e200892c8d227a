import { dlqSteps } from "@bridge/conformance/dlq-steps";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeTables, openDlq } from "./support/dlq.ts";

const { signal } = new AbortController();

describe.skipIf(noPostgres)("dead letters on PostgreSQL", () => {
  test("do what those in memory do", async () => {
    await using schema = await testSchema();
    await makeTables(schema.connection);
    await using store = await openDlq(schema.connection);
    await fc.assert(
      fc.asyncProperty(dlqSteps, async (steps) => {
        await schema.rows(`TRUNCATE ${schema.connection.schema}.dead_letters`);
        await using memory = openMemoryDlq({ maxEntries: 100 });
        for (const take of steps) await take(store, memory);
        const all = { limit: 100, offset: 0 };
        expect(await store.list({}, all, signal)).toEqual(await memory.list({}, all, signal));
      }),
      { numRuns: 10 },
    );
  });
});
