import { deadLetter } from "@bridge/conformance";
import type { DeadLetterHead, DeadLetterPosition, DlqStore } from "@bridge/ports";
import { isSpoiled } from "@bridge/ports/internal";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { expect, test } from "vitest";
import { makeTables, openDlq } from "./support/dlq.ts";

const { signal } = new AbortController();
const UNTIL = 4_102_444_800_000;
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

async function walk(store: DlqStore, order: "oldest" | "newest"): Promise<readonly DeadLetterHead[]> {
  const heads: DeadLetterHead[] = [];
  let after: DeadLetterPosition | undefined;
  do {
    const page = await store.page?.({}, { limit: 1, budget: 100, order, after }, signal);
    heads.push(...(page?.entries ?? []));
    after = page?.next;
  } while (after !== undefined && heads.length < 50);
  return heads;
}

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
    const listed = await store.list({}, { limit: 99, offset: 0 }, signal);
    const ids = listed.map(({ id }) => id);
    expect(new Set(ids).size).toBe(all.length);
    for (const order of ["oldest", "newest"] as const)
      expect((await walk(store, order)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    const by = ["routeId", "bindingId", "category", "errorCode", "fingerprint"] as const;
    expect(await store.facets({ query: {}, by, maxGroups: 99, buckets: 5 }, signal)).toMatchObject({
      total: all.length,
    });
    for (const { id, routeId, bindingId, category, errorCode, fingerprint } of listed) {
      const query = { routeId, bindingId, category, errorCode, fingerprint };
      const { entries } = await store.page(query, { limit: 99, budget: 99, order: "oldest" }, signal);
      expect(entries.map((head) => head.id)).toContain(id);
      const got = await store.get(id, signal).catch((error: unknown) => error);
      if (!isSpoiled(got)) expect(got).toMatchObject({ id });
    }
    expect(await store.marks.mark(new Map(ids.map((id) => [id, { assignee: "alice" }])), signal)).toEqual(new Set(ids));
    expect(await store.admin.trash.move(ids, "job", UNTIL, signal)).toEqual(new Set(ids));
    expect(await store.admin.trash.restore("job", 99, signal)).toEqual({ restored: all.length, present: 0 });
    expect(await store.admin.delete(ids.slice(0, 2), signal)).toEqual(new Set(ids.slice(0, 2)));
    expect(await store.admin.deleteWhere({}, undefined, signal)).toBe(all.length - 2);
  },
);
