import { deadLetter } from "@bridge/conformance";
import { noPostgres, testSchema } from "@bridge/tooling/test-postgres";
import { expect, test } from "vitest";
import { makeTables, openDlq } from "./support/dlq.ts";

const { signal } = new AbortController();

test.skipIf(noPostgres).each([
  ["head, so that it cannot be read", "head = '{'"],
  ["head to nothing", "head = 'null'"],
  ["id in the head", "head = replace(head, '\"b\"', '\"x\"')"],
  ["envelope, so that it cannot be read", "envelope = '['"],
  ["payload", "payload = 'other'"],
])(
  "a dead letter of which somebody has changed the %s hides no page and no other, and can be deleted",
  async (_, what) => {
    await using schema = await testSchema();
    await makeTables(schema.connection);
    await using store = await openDlq(schema.connection);
    for (const id of ["a", "b", "c"]) await store.put(deadLetter(id), signal);
    await schema.rows(`UPDATE ${schema.connection.schema}.dead_letters SET ${what} WHERE id = 'b'`);
    const page = await store.list({}, { limit: 10, offset: 0 }, signal);
    expect(page.map(({ id }) => id).toSorted()).toEqual(["a", "b", "c"]);
    const { routeId, category, failedAt } = deadLetter("b");
    expect(page.find(({ id }) => id === "b")).toMatchObject({ routeId, category, failedAt });
    await expect(store.get("b", signal)).rejects.toThrow("dead letter b is not as it was written");
    expect(await store.get("c", signal)).toEqual(deadLetter("c"));
    expect(store.health?.().spoiled).toBe(1);
    expect(await store.admin.delete(["b"], signal)).toEqual(new Set(["b"]));
    expect(store.health?.().spoiled).toBeUndefined();
  },
);
