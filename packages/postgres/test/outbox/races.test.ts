import type { OutboxRecord, OutboxStore, PersistResult } from "@bridge/ports";
import { noPostgres } from "@bridge/tooling/test-postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { makeTables, openOn, type TestTables } from "./support/outbox.ts";
import { claimAll, done, idsOf, recordOf, recordsOf } from "./support/records.ts";

const WRITERS = 20;
let signal: AbortSignal;
beforeEach((own) => void ({ signal } = own));

/** The same messages in records of their own, in an order of their own. */
function batchOf(writer: number, messages: number): readonly OutboxRecord[] {
  return Array.from({ length: messages }, (_, i) => {
    const message = (i * 7 + writer) % messages;
    return recordOf(`${message}`, { id: `${writer}/${message}`, orderingKey: message % 2 === 0 ? "key" : undefined });
  });
}

describe.skipIf(noPostgres)("20 writers", () => {
  let tables: TestTables;
  let stores: readonly OutboxStore[];
  beforeAll(async () => void (tables = await makeTables()));
  afterAll(() => tables[Symbol.asyncDispose]());
  beforeEach(async () => {
    await tables.empty();
    // Each with two connections, as the server has a hundred for all.
    stores = await Promise.all(Array.from({ length: WRITERS }, () => openOn({ ...tables.connection, pool_size: 2 })));
  });
  afterEach(async () => void (await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()))));

  test("that persist the same messages at once, in other orders: one has each and all others are told so", async () => {
    const batches = stores.map((_, writer) => batchOf(writer, 30));
    const results = await Promise.all(stores.map((store, writer) => store.persist(batches[writer] ?? [], signal)));
    const kept = new Map<string, string>();
    for (const [record, result] of pairs(batches, results)) {
      if (result.kind !== "persisted") continue;
      expect(kept.has(record.envelope.id)).toBe(false);
      kept.set(record.envelope.id, record.id);
    }
    expect(kept.size).toBe(30);
    for (const [record, result] of pairs(batches, results)) {
      if (result.kind === "persisted") continue;
      expect(result).toEqual({ kind: "duplicate", id: kept.get(record.envelope.id), status: "pending" });
    }
    const [first] = stores as [OutboxStore];
    expect(idsOf(await claimAll(first, signal)).toSorted()).toEqual([...kept.values()].toSorted());
  });

  test.each([
    ["with keys", (i: number) => (i % 2 === 0 ? `key-${i % 10}` : undefined)],
    ["without keys", () => undefined],
  ])("that drain one lane, %s: each record is lent to one, keys keep their order, and all end", async (_, keyOf) => {
    const records = recordsOf(400, keyOf);
    const lent = new Set<string>();
    const sent: string[] = [];
    const ended = new Set<string>();
    const drain = async (store: OutboxStore): Promise<void> => {
      while (ended.size < records.length) {
        signal.throwIfAborted();
        const claims = await claimAll(store, signal, 7);
        for (const id of idsOf(claims)) {
          expect(lent.has(id)).toBe(false);
          lent.add(id);
        }
        sent.push(...idsOf(claims));
        const entered = await store.finish(claims.map(done), signal);
        for (const [i, { record }] of claims.entries()) if (entered[i] === true) ended.add(record.id);
        if (claims.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    // One produces, so that there is an order; its records come up while the others drain.
    const produce = async (): Promise<void> => {
      for (let start = 0; start < records.length; start += 40) {
        await stores[0]?.persist(records.slice(start, start + 40), signal);
      }
    };
    await Promise.all([produce(), ...stores.map(drain)]);
    expect(sent).toHaveLength(records.length);
    for (const key of new Set(records.flatMap(({ orderingKey }) => orderingKey ?? []))) {
      const own = records.filter(({ orderingKey }) => orderingKey === key).map(({ id }) => id);
      expect(sent.filter((id) => own.includes(id))).toEqual(own);
    }
    expect(await stores[0]?.backlog(signal)).toEqual([]);
  });

  test("that end one loan: one is entered", async () => {
    const [first] = stores as [OutboxStore];
    await first.persist([recordOf("a")], signal);
    const claims = await claimAll(first, signal, 1);
    const entered = await Promise.all(stores.map((store) => store.finish(claims.map(done), signal)));
    expect(entered.flat().filter(Boolean)).toHaveLength(1);
  });

  test("that claim one record by its id, and its lane: one gets it, and none the one behind it", async () => {
    const [first] = stores as [OutboxStore];
    await first.persist(
      recordsOf(2, () => "key"),
      signal,
    );
    const lent = await Promise.all(
      stores.map(async (store, i) =>
        i % 2 === 0 ? ((await store.claimOne("record-0", 60_000, signal)) ?? []) : claimAll(store, signal, 1),
      ),
    );
    expect(idsOf(lent.flat())).toEqual(["record-0"]);
  });

  test("of which one enters a retry while another claims: none gets the one behind it", async () => {
    const [first, second] = stores as [OutboxStore, OutboxStore];
    await first.persist(
      recordsOf(4, (i) => (i < 3 ? "key" : undefined)),
      signal,
    );
    expect(idsOf(await claimAll(first, signal, 1))).toEqual(["record-0"]);
    const { schema } = tables.connection;
    // The loan is over, and its end is late.
    await tables.schema.rows(`UPDATE ${schema}.outbox_queue SET held_until = held_at WHERE token IS NOT NULL`);
    await tables.schema.rows("BEGIN");
    const entered = await tables.schema.rows(
      `SELECT nth FROM ${schema}.outbox_queue AS q, ${schema}.outbox_finish(
         ARRAY[q.place], ARRAY[q.number], ARRAY[q.id], ARRAY[q.token], '{0}', '{1}', '{60000}', 0)
        WHERE q.token IS NOT NULL`,
    );
    expect(entered).toHaveLength(1);
    expect(idsOf(await claimAll(second, signal))).toEqual(["record-3"]);
    await tables.schema.rows("COMMIT");
    expect(await claimAll(second, signal)).toEqual([]);
  });
});

function* pairs(
  batches: readonly (readonly OutboxRecord[])[],
  results: readonly (readonly PersistResult[])[],
): Generator<[OutboxRecord, PersistResult]> {
  for (const [writer, batch] of batches.entries()) {
    for (const [i, record] of batch.entries()) {
      const result = results[writer]?.[i];
      if (result !== undefined) yield [record, result];
    }
  }
}
