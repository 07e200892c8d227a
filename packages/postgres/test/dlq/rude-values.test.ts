import { deadLetter, workThrough } from "@bridge/conformance";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { expect, test } from "vitest";
import { makeTables, openDlq } from "./support/dlq.ts";

const { signal } = new AbortController();
const TIMES = ["9223372036854775807", "8640000000000001", "0", "-1", "-9223372036854775808"];
const TEXTS = ["''", "'text'", "'{'", "'null'", "'[]'", "'5'", "repeat('x', 2000)", `E'\\u0001'`];
const BYTES = ["''::bytea", "'\\x00ff'::bytea"];
const COLUMNS: readonly (readonly [column: string, values: readonly string[]])[] = [
  ["failed_at", TIMES],
  ...["id", "route_id", "binding_id", "category", "error_code", "fingerprint", "head", "marks", "envelope"].map(
    (column) => [column, TEXTS] as const,
  ),
  ...["envelope_key", "correlation_key", "payload"].map((column) => [column, BYTES] as const),
];

test.skipIf(noPostgres).each(COLUMNS)(
  "whatever somebody puts into %s of dead letters, all are listed, counted, moved and deleted",
  async (column, values) => {
    await using schema = await testSchema();
    await makeTables(schema.connection);
    await using store = await openDlq(schema.connection, { facetsKeptMs: 0 });
    const all = ["a", ...values.map((_, n) => `b${n}`), "c"];
    for (const id of all) await store.put(deadLetter(id), signal);
    for (const [n, value] of values.entries())
      await schema.rows(`UPDATE ${schema.connection.schema}.dead_letters SET ${column} = ${value} WHERE id = 'b${n}'`);
    await expect(workThrough(store, { count: all.length }, signal)).resolves.toBeUndefined();
  },
);
