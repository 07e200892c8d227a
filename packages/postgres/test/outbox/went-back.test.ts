import type { OutboxRecord, OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, idsOf, PLACE, recordOf } from "./support/records.ts";

const { signal } = new AbortController();
const OTHER = { routeId: "route", bindingId: "other" } as const;

describe.skipIf(noPostgres)("an outbox whose database went back under it", () => {
  let tables: TestTables;
  let stores: OutboxStore[];
  let store: OutboxStore;
  let schema: string;
  beforeAll(async () => {
    tables = await makeTables();
    ({ schema } = tables.connection);
  });
  afterAll(() => tables[Symbol.asyncDispose]());
  beforeEach(async () => {
    await tables.empty();
    stores = [await openOn(tables.connection), await openOn(tables.connection)];
    store = stores[0] as OutboxStore;
    // Both know the place.
    for (const [i, each] of stores.entries()) {
      await each.persist([recordOf(`before-${i}`, { orderingKey: "key" })], signal);
      await each.finish((await claimAll(each, signal)).map(done), signal);
    }
  });
  afterEach(async () => void (await Promise.all(stores.map((each) => each[Symbol.asyncDispose]()))));

  const sql = (text: string) => tables.schema.rows(text.replaceAll("outbox_", `${schema}.outbox_`));

  async function persist(...records: OutboxRecord[]): Promise<void> {
    for (const record of records) expect(await store.persist([record], signal)).toEqual([{ kind: "persisted" }]);
  }

  /** Claims and ends until nothing comes any more. */
  async function drain(by: OutboxStore, place: typeof PLACE | typeof OTHER = PLACE): Promise<readonly string[]> {
    const ids: string[] = [];
    for (;;) {
      const claims = await by.claim({ ...place, limit: 100, loanMs: 60_000 }, signal);
      if (claims.length === 0) return ids;
      expect(claims.map(({ record: { routeId, bindingId } }) => ({ routeId, bindingId }))).toEqual(
        claims.map(() => place),
      );
      ids.push(...idsOf(claims));
      expect(await by.finish(claims.map(done), signal)).toEqual(claims.map(() => true));
    }
  }

  const keyed = (name: string) => recordOf(name, { orderingKey: "key" });

  test.each([
    ["all is gone", "TRUNCATE outbox_queue, outbox_record"],
    ["all is gone, and numbers begin again", "TRUNCATE outbox_queue, outbox_record; SELECT setval('outbox_number', 1)"],
  ])("%s: what is accepted afterwards is counted, and lent in order", async (_, goBack) => {
    await persist(keyed("lost"));
    await sql(goBack);
    await persist(keyed("a"), recordOf("b"), keyed("c"));
    expect(await store.backlog(signal)).toMatchObject([{ ...PLACE, depth: 3 }]);
    // Another one looks for older numbers than it knows of now and then.
    await expect
      .poll(() => drain(stores[1] as OutboxStore), { timeout: 30_000 })
      .toEqual(["record-a", "record-b", "record-c"]);
    expect(await store.backlog(signal)).toEqual([]);
  });

  test("what comes back with a backup is counted and lent, by one that has just started too", async () => {
    await persist(keyed("a"), recordOf("b"), keyed("c"), recordOf("else", OTHER));
    await sql("CREATE TABLE outbox_backup AS SELECT * FROM outbox_queue");
    await sql("CREATE TABLE outbox_evidence AS SELECT * FROM outbox_record");
    expect(await drain(store)).toHaveLength(3);
    await sql("TRUNCATE outbox_queue, outbox_record");
    await sql(
      "INSERT INTO outbox_queue SELECT * FROM outbox_backup; INSERT INTO outbox_record SELECT * FROM outbox_evidence",
    );
    await sql("DROP TABLE outbox_backup, outbox_evidence");
    await using fresh = await openOn(tables.connection);
    await fresh.persist([keyed("d")], signal);
    const depths = new Map((await fresh.backlog(signal)).map(({ bindingId, depth }) => [bindingId, depth]));
    expect(depths).toEqual(
      new Map([
        ["binding", 4],
        ["other", 1],
      ]),
    );
    expect(await drain(fresh)).toEqual(["record-a", "record-b", "record-c", "record-d"]);
    expect(await drain(store, OTHER)).toEqual(["record-else"]);
  });
});
