import { type Clock, type OutboxRecord, type OutboxStore, type PersistResult, systemClock } from "@bridge/ports";
import { times } from "@bridge/tooling/long";
import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeTable, openOn } from "./support/outbox.ts";
import { claimAll, done, idsOf, PLACE, recordOf } from "./support/records.ts";

const WRITERS = times(8, 20);
/** Nobody is taken for crashed, and no loan lapses, because the machine is busy: time is measured ten times as slow. */
const SLOW: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() / 10 };
let signal: AbortSignal;
let dynamo: TestDynamo;

beforeAll(async () => void (dynamo = await testDynamo()));
beforeEach((own) => void ({ signal } = own));
afterAll(() => dynamo[Symbol.asyncDispose]());

async function writers(count: number): Promise<readonly OutboxStore[]> {
  const table = await makeTable(dynamo);
  return Promise.all(Array.from({ length: count }, () => openOn(dynamo, table, { clock: SLOW })));
}

/** The same messages in records of their own, in an order of their own. */
function batchOf(writer: number, messages: number): readonly OutboxRecord[] {
  return Array.from({ length: messages }, (_, i) => {
    const message = (i * 7 + writer) % messages;
    return recordOf(`${message}`, { id: `${writer}/${message}`, orderingKey: message % 2 === 0 ? "key" : undefined });
  });
}

test("of writers that persist the same messages at once, in other orders, one has each and all others are told so", async () => {
  const stores = await writers(WRITERS);
  const batches = stores.map((_, writer) => batchOf(writer, 5));
  const results = await Promise.all(stores.map((store, writer) => store.persist(batches[writer] ?? [], signal)));
  const kept = new Map<string, string>();
  for (const [record, result] of pairs(batches, results)) {
    if (result.kind !== "persisted") continue;
    expect(kept.has(record.envelope.id)).toBe(false);
    kept.set(record.envelope.id, record.id);
  }
  expect(kept.size).toBe(5);
  for (const [record, result] of pairs(batches, results)) {
    if (result.kind === "persisted") continue;
    expect(result).toEqual({ kind: "duplicate", id: kept.get(record.envelope.id), status: "pending" });
  }
  const [first] = stores as [OutboxStore];
  const claims = await claimAll(first, signal);
  expect([...idsOf(claims)].toSorted()).toEqual([...kept.values()].toSorted());
});

test("instances drain one lane: each record is lent to one, keys keep their order, and all end", async () => {
  const stores = await writers(WRITERS);
  const records = Array.from({ length: 100 }, (_, i) =>
    recordOf(`${i}`, { orderingKey: i % 2 === 0 ? `key-${i % 5}` : undefined }),
  );
  for (let start = 0; start < records.length; start += 50) {
    await stores[start % WRITERS]?.persist(records.slice(start, start + 50), signal);
  }
  const sent: string[] = [];
  const ended = new Set<string>();
  const lent = new Set<string>();
  await Promise.all(
    stores.map(async (store) => {
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
        if (claims.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }),
  );
  expect(sent).toHaveLength(records.length);
  for (let key = 0; key < 5; key++) {
    const own = records.filter(({ orderingKey }) => orderingKey === `key-${key}`).map(({ id }) => id);
    expect(sent.filter((id) => own.includes(id))).toEqual(own);
  }
  expect(await stores[0]?.backlog(signal)).toEqual([]);
}, 120_000);

test("of ends of one loan that race over instances, one is entered", async () => {
  const stores = await writers(WRITERS);
  const [first] = stores as [OutboxStore];
  await first.persist([recordOf("a")], signal);
  const claims = await first.claim({ ...PLACE, limit: 1, loanMs: 60_000 }, signal);
  const entered = await Promise.all(stores.map((store) => store.finish(claims.map(done), signal)));
  expect(entered.flat().filter(Boolean)).toHaveLength(1);
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
