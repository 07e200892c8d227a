import { randomBytes } from "node:crypto";
import type { OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, idsOf, recordOf, recordsOf } from "./support/records.ts";

const { signal } = new AbortController();

describe.skipIf(noPostgres)("persisting", () => {
  let tables: TestTables;
  let store: OutboxStore;
  beforeAll(async () => void (tables = await makeTables()));
  afterAll(() => tables[Symbol.asyncDispose]());
  beforeEach(async () => {
    await tables.empty();
    store = await openOn(tables.connection);
  });
  afterEach(() => store[Symbol.asyncDispose]());

  /** How many transactions have made what is in a table. */
  async function transactions(table: string): Promise<number> {
    const { schema } = tables.connection;
    const [row] = await tables.schema.rows<{ n: string }>(
      `SELECT count(DISTINCT xmin::text) AS n FROM ${schema}.${table}`,
    );
    return Number(row?.n);
  }

  test("what comes in one turn is one transaction, and so are its ends", async () => {
    await Promise.all(
      recordsOf(200, (i) => (i % 2 === 0 ? "key" : undefined)).map((record) => store.persist([record], signal)),
    );
    expect(await transactions("outbox_record")).toBe(1);
    expect(await transactions("outbox_queue")).toBe(1);
    const claims = await claimAll(store, signal, 500);
    const entered = await Promise.all(claims.map((claim) => store.finish([done(claim)], signal)));
    expect(entered.flat()).toEqual(claims.map(() => true));
    expect(await transactions("outbox_record")).toBe(1);
  });

  test("a delivered record leaves nothing but evidence", async () => {
    await store.persist(recordsOf(3), signal);
    await store.finish((await claimAll(store, signal)).map(done), signal);
    const { schema } = tables.connection;
    expect(await tables.schema.rows(`SELECT 1 FROM ${schema}.outbox_queue`)).toEqual([]);
    expect(await tables.schema.rows(`SELECT 1 FROM ${schema}.outbox_record WHERE status = 1`)).toHaveLength(3);
  });

  test("loans and ends change nothing that an index has, and pages have room for them", async () => {
    const { schema } = tables.connection;
    const rowOf = async (table: string): Promise<Readonly<Record<string, unknown>>> => {
      const [row] = await tables.schema.rows<{ row: Record<string, unknown> }>(
        `SELECT to_jsonb(t) AS row FROM ${schema}.${table} AS t`,
      );
      return row?.row ?? {};
    };
    const seen: Record<string, Readonly<Record<string, unknown>>[]> = { outbox_queue: [], outbox_record: [] };
    const look = async (...names: readonly string[]): Promise<void> => {
      for (const table of names) seen[table]?.push(await rowOf(table));
    };
    await store.persist([recordOf("a", { orderingKey: "key", entryId: "entry" })], signal);
    await look("outbox_queue", "outbox_record");
    const [claim] = await claimAll(store, signal);
    expect(claim).toBeDefined();
    await look("outbox_queue");
    const outcome = { kind: "retry", delayMs: 0, attempts: 1 } as const;
    await store.finish([{ id: claim?.record.id ?? "", token: claim?.token ?? "", outcome }], signal);
    await look("outbox_queue");
    await store.finish((await claimAll(store, signal)).map(done), signal);
    await look("outbox_record");
    for (const [table, rows] of Object.entries(seen)) {
      const first = rows[0] ?? {};
      const changed = Object.keys(first).filter((column) =>
        rows.some((row) => JSON.stringify(row[column]) !== JSON.stringify(first[column])),
      );
      expect(changed).not.toEqual([]);
      const indexes = await tables.schema.rows<{ definition: string; columns: string[] }>(
        `SELECT pg_get_indexdef(i.indexrelid) AS definition,
                ARRAY(SELECT a.attname::text FROM pg_depend AS d
                        JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = d.refobjsubid
                       WHERE d.objid = i.indexrelid AND d.refobjid = i.indrelid
                       UNION SELECT a.attname::text FROM pg_attribute AS a
                       WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)) AS columns
           FROM pg_index AS i WHERE i.indrelid = '${schema}.${table}'::regclass`,
      );
      expect(indexes.length).toBeGreaterThan(0);
      for (const { columns } of indexes) expect(columns).not.toEqual([]);
      expect(indexes.filter(({ columns }) => columns.some((column) => changed.includes(column)))).toEqual([]);
      const [{ fillfactor } = { fillfactor: "" }] = await tables.schema.rows<{ fillfactor: string }>(
        `SELECT option_value AS fillfactor FROM pg_class, pg_options_to_table(reloptions)
          WHERE oid = '${schema}.${table}'::regclass AND option_name = 'fillfactor'`,
      );
      expect(Number(fillfactor)).toBe(50);
    }
  });

  test("a message that is too large is refused, and what came with it is kept", async () => {
    const calls = [[recordOf("a"), recordOf("large", {}, 33 * 1024 * 1024), recordOf("b")], [recordOf("c")]];
    const results = await Promise.all(calls.map((records) => store.persist(records, signal)));
    expect(results).toMatchObject([
      [{ kind: "persisted" }, { kind: "refused", error: { code: "PAYLOAD_TOO_LARGE" } }, { kind: "persisted" }],
      [{ kind: "persisted" }],
    ]);
    expect(idsOf(await claimAll(store, signal))).toEqual(["record-a", "record-b", "record-c"]);
  });

  test("what the server will not take is told apart from what came with it, and the rest of its call stays together", async () => {
    // Longer than an entry of an index may be, and not to be compressed.
    const odd = recordOf("odd", { id: randomBytes(6_000).toString("base64"), orderingKey: "key" });
    const calls = [
      [recordOf("a"), odd, recordOf("b", { orderingKey: "key" })],
      [recordOf("c")],
      [{ ...odd, bindingId: "other" }],
      [recordOf("a", { id: "again" })],
    ];
    const results = await Promise.all(calls.map((records) => store.persist(records, signal)));
    expect(results.flat().map(({ kind }) => kind)).toEqual([
      "persisted",
      "refused",
      "persisted",
      "persisted",
      "refused",
      "duplicate",
    ]);
    expect(results[0]?.[1]).toMatchObject({ error: { code: "PAYLOAD_TOO_LARGE", charged: false } });
    expect(idsOf(await claimAll(store, signal))).toEqual(["record-a", "record-b", "record-c"]);
    expect(store.health?.()).toEqual({ setAside: [] });
  });

  test("a claim of large messages is cut short, and the rest comes with the next", async () => {
    await using other = await openOn(tables.connection);
    await store.persist(
      Array.from({ length: 12 }, (_, i) => recordOf(`${i}`, { orderingKey: "key" }, 1024 * 1024)),
      signal,
    );
    const first = await claimAll(other, signal);
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(12);
    await other.finish(first.map(done), signal);
    expect([...idsOf(first), ...idsOf(await claimAll(other, signal))]).toEqual(
      Array.from({ length: 12 }, (_, i) => `record-${i}`),
    );
  });

  test("a message larger than a claim may be is lent alone", async () => {
    await store.persist([recordOf("large", {}, 9 * 1024 * 1024), recordOf("small")], signal);
    expect(idsOf(await claimAll(store, signal))).toEqual(["record-large"]);
    expect(idsOf(await claimAll(store, signal))).toEqual(["record-small"]);
  });

  test("a number that a server gives out again is not taken for what it was before", async () => {
    await store.persist([recordOf("a")], signal);
    // As after a failover to a replica that did not have it.
    const { schema } = tables.connection;
    const [row] = await tables.schema.rows<{ number: string }>(`SELECT number FROM ${schema}.outbox_record`);
    await tables.schema.rows(`DELETE FROM ${schema}.outbox_record; DELETE FROM ${schema}.outbox_queue`);
    await tables.schema.rows(`SELECT setval('${schema}.outbox_number', ${row?.number}, false)`);
    await using other = await openOn(tables.connection);
    await other.persist([recordOf("b")], signal);
    const [claim] = await claimAll(store, signal);
    expect(claim?.record).toMatchObject({ id: "record-b", envelope: { id: "message-b" } });
  });
});
