import { deadLetter } from "@bridge/conformance";
import type { DeadLetterOrder, DeadLetterPosition, DeadLetterQuery, DlqStore } from "@bridge/ports";
import { noPostgres, testSchema, type TestSchema } from "@bridge/tooling/test-postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { PostgresDlq } from "../../src/dlq/open-postgres-dlq.ts";
import { makeTables, openDlq } from "./support/dlq.ts";

const { signal } = new AbortController();

/** The ids of all pages, each of `limit` entries at most. */
async function walked(
  store: Required<Pick<DlqStore, "page">>,
  query: DeadLetterQuery,
  order: DeadLetterOrder,
  limit: number,
) {
  const ids: string[] = [];
  let after: DeadLetterPosition | undefined;
  for (let pages = 0; pages < 100; pages++) {
    const { entries, next } = await store.page(query, { limit, order, after, budget: 1_000 }, signal);
    ids.push(...entries.map(({ id }) => id));
    if (next === undefined) return ids;
    after = next;
  }
  throw new Error("the pages do not end");
}

describe.skipIf(noPostgres)("operators 1.3: pages by key on PostgreSQL", () => {
  let schema: TestSchema;
  let store: PostgresDlq;
  const entries = (): string => `${schema.connection.schema}.dead_letters`;
  beforeAll(async () => {
    schema = await testSchema();
    await makeTables(schema.connection);
    store = await openDlq(schema.connection);
  });
  beforeEach(() => schema.rows(`TRUNCATE ${entries()}`));
  afterAll(async () => {
    for (const part of [store, schema]) await part[Symbol.asyncDispose]();
  });

  test.each(["9223372036854775807", "9007199254740993", "-9007199254740993", "-9223372036854775808"])(
    "end, and have each entry once, when somebody has given one the time %s, and damaged another",
    async (time) => {
      const ids = ["a", "b", "c", "d"];
      for (const id of ids) await store.put(deadLetter(id), signal);
      await schema.rows(`UPDATE ${entries()} SET failed_at = ${time} WHERE id = 'b'`);
      await schema.rows(`UPDATE ${entries()} SET head = '{' WHERE id = 'c'`);
      for (const order of ["oldest", "newest"] as const) {
        for (const limit of [1, 2, 10]) expect((await walked(store, {}, order, limit)).toSorted()).toEqual(ids);
      }
    },
  );

  test("find ids of any length and with any characters by an index", async () => {
    const odd = `${"x".repeat(100_000)}\u0000\ud800`;
    await store.put(deadLetter("a", { correlationId: odd, envelope: { id: odd, correlationId: odd } }), signal);
    for (let i = 0; i < 20; i++) await store.put(deadLetter(`other-${i}`), signal);
    for (const query of [{ correlationId: odd }, { envelopeId: odd }]) {
      const page = await store.page(query, { limit: 10, order: "oldest", budget: 10 }, signal);
      expect(page.entries.map(({ id }) => id)).toEqual(["a"]);
      expect(page.scanned).toBe(1);
    }
    expect(await store.get("a", signal)).toMatchObject({ correlationId: odd });
  });

  test("have nothing of what no text of the server holds, and begin where somebody has made up a place", async () => {
    await store.put(deadLetter("a", { failedAt: 10 }), signal);
    for (const query of [{ routeId: "\u0000" }, { bindingId: "\u0000" }, { fingerprint: "\u0000" }]) {
      expect(await walked(store, query, "oldest", 10)).toEqual([]);
    }
    for (const failedAt of [9, 9.5, -Infinity, -1e300]) {
      const page = { limit: 10, order: "oldest", after: { failedAt, id: "\u0000" }, budget: 10 } as const;
      expect((await store.page({}, page, signal)).entries).toHaveLength(1);
    }
    for (const failedAt of [11, Infinity, 1e300]) {
      const page = { limit: 10, order: "oldest", after: { failedAt, id: "" }, budget: 10 } as const;
      expect((await store.page({}, page, signal)).entries).toEqual([]);
    }
  });

  test("that look at more than one statement reads go on where it ended", async () => {
    for (let i = 0; i < 30; i++) {
      const routeId = i % 10 === 0 ? "wanted" : "other";
      await store.put(deadLetter(`e${i + 10}`, { failedAt: i, routeId, bindingId: routeId }), signal);
    }
    expect(await walked(store, { bindingId: "wanted" }, "newest", 1)).toEqual(["e30", "e20", "e10"]);
    const page = await store.page({ bindingId: "wanted" }, { limit: 3, order: "oldest", budget: 15 }, signal);
    expect(page).toMatchObject({
      entries: [{ id: "e10" }, { id: "e20" }],
      scanned: 15,
      next: { failedAt: 14, id: "e24" },
    });
  });
});
