import { silentLogger, type LogFields } from "@bridge/ports";
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
    await expect(store.get("b", signal)).rejects.toThrow('dead letter "b" is not as it was written');
    expect(await store.get("c", signal)).toEqual(deadLetter("c"));
    expect(store.health?.().spoiled).toBe(1);
    expect(await store.admin.delete(["b"], signal)).toEqual(new Set(["b"]));
    expect(store.health?.().spoiled).toBeUndefined();
  },
);

test.skipIf(noPostgres)(
  "the log names route, binding and envelope of a spoiled dead letter that can be read",
  async () => {
    await using schema = await testSchema();
    await makeTables(schema.connection);
    const told: (LogFields | undefined)[] = [];
    const logger = { ...silentLogger, error: (_: string, fields?: LogFields) => void told.push(fields) };
    await using store = await openDlq(schema.connection, { logger });
    const entry = deadLetter("a");
    await store.put(entry, signal);
    await schema.rows(`UPDATE ${schema.connection.schema}.dead_letters SET payload = 'other'`);
    await expect(store.get("a", signal)).rejects.toThrow("not as it was written");
    const { routeId, bindingId, envelope } = entry;
    expect(told).toEqual([{ entry_id: "a", route_id: routeId, binding_id: bindingId, envelope_id: envelope.id }]);
  },
);

test.skipIf(noPostgres).each(["9223372036854775807", "8640000000000001", "-1", "-9223372036854775808"])(
  "a dead letter that somebody has given the time %s is listed with that, counted and deleted",
  async (time) => {
    await using schema = await testSchema();
    await makeTables(schema.connection);
    await using store = await openDlq(schema.connection);
    for (const id of ["a", "b"]) await store.put(deadLetter(id), signal);
    await schema.rows(`UPDATE ${schema.connection.schema}.dead_letters SET failed_at = ${time} WHERE id = 'b'`);
    const page = await store.list({}, { limit: 10, offset: 0 }, signal);
    expect(page.find(({ id }) => id === "b")?.failedAt).toBe(Number(time));
    expect([await store.count(10, signal), (await store.get("b", signal))?.id]).toEqual([2, "b"]);
    expect(await store.admin.deleteWhere({}, undefined, signal)).toBe(2);
  },
);
