import type { OutboxRecord, OutboxStore } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, idsOf, PLACE, recordOf } from "./support/records.ts";

const signal = AbortSignal.timeout(60_000);
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
    // Both know the lane, and that it has keys.
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
    ["the row of its lane is deleted", "DELETE FROM outbox_lane"],
    ["its lanes are gone", "TRUNCATE outbox_lane"],
    ["its lanes are gone, and their numbers begin again", "TRUNCATE outbox_lane RESTART IDENTITY"],
    ["its lane has had no key", "UPDATE outbox_lane SET keyed = false"],
    [
      "all is gone",
      "TRUNCATE outbox_lane, outbox_queue, outbox_record, outbox_instance, outbox_claimer RESTART IDENTITY",
    ],
  ])("%s: what is accepted afterwards is counted, and lent in order", async (_, goBack) => {
    await sql(goBack);
    await persist(keyed("a"), recordOf("b"), keyed("c"));
    expect(await store.backlog(signal)).toMatchObject([{ ...PLACE, depth: 3 }]);
    expect(await drain(stores[1] as OutboxStore)).toEqual(["record-a", "record-b", "record-c"]);
    expect(await store.backlog(signal)).toEqual([]);
  });

  test.each([
    ["deleted", "DELETE FROM outbox_lane"],
    ["gone, and the numbers begin again", "TRUNCATE outbox_lane RESTART IDENTITY"],
    ["without keys", "UPDATE outbox_lane SET keyed = false"],
  ])("what was there before the lane was %s is counted, and lent by one that has just started", async (_, goBack) => {
    await persist(keyed("a"), recordOf("b"), keyed("c"));
    await sql(goBack);
    await using fresh = await openOn(tables.connection);
    await fresh.persist([recordOf("else", OTHER)], signal);
    await fresh.persist([keyed("d")], signal);
    expect(await fresh.backlog(signal)).toHaveLength(2);
    expect((await fresh.backlog(signal)).find(({ bindingId }) => bindingId === PLACE.bindingId)?.depth).toBe(4);
    expect(await drain(fresh)).toEqual(["record-a", "record-b", "record-c", "record-d"]);
    expect(await drain(fresh, OTHER)).toEqual(["record-else"]);
  });

  test("a number that another lane has got is not its own any more", async () => {
    await sql("TRUNCATE outbox_lane RESTART IDENTITY");
    await using fresh = await openOn(tables.connection);
    await fresh.persist([recordOf("else", OTHER)], signal);
    await persist(keyed("a"));
    expect(await drain(fresh, OTHER)).toEqual(["record-else"]);
    expect(await drain(store)).toEqual(["record-a"]);
  });

  test("records whose place has got another number go there", async () => {
    await persist(keyed("a"), recordOf("b"));
    await sql("UPDATE outbox_lane SET lane = DEFAULT");
    expect(await store.backlog(signal)).toMatchObject([{ ...PLACE, depth: 2 }]);
    await persist(keyed("c"));
    expect(await drain(stores[1] as OutboxStore)).toEqual(["record-a", "record-b", "record-c"]);
    expect(await sql("SELECT 1 FROM outbox_record WHERE status = 0")).toEqual([]);
  });
});
