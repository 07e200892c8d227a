import { PATIENCE } from "@bridge/tooling/patience";
import assert from "node:assert/strict";
import {
  type ConfigStaging,
  type ConfigStore,
  ReadOnlyConfigError,
  type StoredConfig,
  systemClock,
} from "@bridge/ports";
import { type DynamoFault, testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { ConfigTable } from "./support/config-tables.ts";

const table = await ConfigTable.make(await testDynamo());
const { dynamo } = table;
afterAll(() => table[Symbol.asyncDispose]());
afterEach(() => dynamo.reset());

const { signal } = new AbortController();
const REQUEST = { by: "plant-7-a", at: 1_000, leftBehindBefore: 0 };
const FAULTS: readonly DynamoFault[] = [
  "lose-answer",
  "cut",
  "empty",
  { error: "InternalServerError", status: 500 },
  { error: "ProvisionedThroughputExceededException" },
];

/** A document, and what it is to begin with. */
async function opened(): Promise<{ name: string; store: ConfigStore; staging: ConfigStaging; first: StoredConfig }> {
  const name = table.newDocument();
  await table.put(name, { document: { S: JSON.stringify({ config_version: 4, id: "first" }) } });
  const store = await table.open(name);
  const first = await store.load(signal);
  assert.ok(first !== undefined && store.staging !== undefined);
  return { name, store, staging: store.staging, first };
}

async function idOf(store: ConfigStore): Promise<unknown> {
  return (await store.load(signal))?.document["id"];
}

describe.each(FAULTS)("through %j", (fault) => {
  test("a write and its undoing are done once, and the writer knows", async () => {
    const { store, first } = await opened();
    dynamo.choose = everySecond(fault);
    const written = await store.write({ id: "second" }, first, signal);
    assert.ok(written !== undefined);
    expect(await store.load(signal)).toEqual(written);
    expect(await store.restore(first, written, signal)).toBe(true);
    expect(await store.load(signal)).toEqual(first);
  });

  test("what is staged is confirmed or discarded once, and its committer knows", async () => {
    const { store, staging, first } = await opened();
    dynamo.choose = everySecond(fault);
    const tried = await staging.stage({ id: "tried" }, first, REQUEST, signal);
    assert.ok(tried !== undefined);
    await staging.discard(tried, signal);
    expect(await idOf(store)).toBe("first");
    const staged = await staging.stage({ id: "second" }, first, REQUEST, signal);
    assert.ok(staged !== undefined);
    expect(await staging.look(signal)).toEqual(staged);
    expect(await staging.confirm(staged, signal)).toBe(true);
    expect(await idOf(store)).toBe("second");
  });

  test("the history has each entry once", async () => {
    const { store } = await opened();
    dynamo.choose = everySecond(fault);
    for (let version = 1; version <= 4; version++) {
      const entry = { version, committedAt: version, actor: "alice", changes: [] };
      await store.history?.append({ ...entry, pending: true }, signal);
      await store.history?.append(entry, signal);
    }
    const entries = (await store.history?.list(signal)) ?? [];
    expect(entries.map(({ version, pending }) => [version, pending])).toEqual([
      [4, undefined],
      [3, undefined],
      [2, undefined],
      [1, undefined],
    ]);
  });
});

/** Every second request meets the fault, whatever it asks for. */
function everySecond(fault: DynamoFault): () => DynamoFault | undefined {
  let requests = 0;
  return () => (requests++ % 2 === 0 ? fault : undefined);
}

test("of 20 committers whose answers are lost at random, one has staged, and nobody else believes it", async () => {
  const { name, staging, first } = await opened();
  const stores = await Promise.all(Array.from({ length: 20 }, () => table.open(name)));
  let requests = 0;
  const faults = [undefined, "lose-answer", "cut", { error: "ThrottlingException" }] as const;
  dynamo.choose = (operation) => (operation === "PutItem" ? faults[(requests++ * 7 + 3) % 4] : undefined);
  const results = await Promise.allSettled(
    stores.map(async ({ staging: each }, i) =>
      each?.stage({ id: `${i}` }, first, { ...REQUEST, by: `plant-7-${i}` }, signal),
    ),
  );
  dynamo.reset();
  const sure = results.flatMap((result) => (result.status === "fulfilled" ? (result.value ?? []) : []));
  const staged = await staging.look(signal);
  expect(sure).toEqual([staged]);
  for (const store of stores) await store[Symbol.asyncDispose]();
});

test("a write whose answer was lost, and which somebody has written over since, is unknown, not refused", async () => {
  const { name, store, first } = await opened();
  // The first put is the content, two keep the former one, and the last one names it.
  let puts = 0;
  dynamo.choose = (operation) => (operation === "PutItem" && ++puts === 4 ? "lose-answer" : undefined);
  dynamo.beforeAnswer = async (operation) => {
    if (operation === "PutItem" && puts === 4) await table.put(name, { document: { S: `{"id": "by hand"}` } });
  };
  await assert.rejects(store.write({ id: "second" }, first, signal), {
    code: "CONNECTION_LOST",
    message: `${store.source}: whether the configuration was written is unknown: no answer came in time, and another hand has written since`,
  });
  dynamo.reset();
  expect(await idOf(store)).toBe("by hand");
});

test("a role that may not write makes the document read-only, and says what to do", async () => {
  const { store, staging, first } = await opened();
  dynamo.choose = (operation) => (operation === "PutItem" ? { error: "AccessDeniedException" } : undefined);
  await assert.rejects(staging.stage({ id: "x" }, first, REQUEST, signal), (error) => {
    assert.ok(error instanceof ReadOnlyConfigError);
    assert.match(error.message, /can be read and not written to: .* allow this role to write to the table/);
    return true;
  });
  expect(await store.load(signal)).toEqual(first);
});

test("a watch tells that the table cannot be asked, once, and what is there when it can", async () => {
  const { store } = await opened();
  const over = new AbortController();
  const changes = store.watch(over.signal)[Symbol.asyncIterator]();
  dynamo.choose = () => ({ error: "AccessDeniedException" });
  const told = (await changes.next()).value as { kind: string; error: Error };
  expect(told.kind).toBe("unreadable");
  expect(told.error.message).toContain("AccessDeniedException");
  const next = changes.next();
  await expect.poll(() => dynamo.operations.length).toBeGreaterThan(4);
  dynamo.reset();
  expect((await next).value).toMatchObject({ kind: "changed", stored: { document: { id: "first" } } });
  over.abort();
  await changes.return?.();
});

test("whoever is interrupted between the two items of a write has changed nothing, and a later write cleans up", async () => {
  const name = table.newDocument();
  await table.put(name, { document: { S: `{"id": "first"}` } });
  let now = 1_000_000;
  const clock = { ...systemClock, now: () => now };
  const store = await table.open(name, { clock });
  const first = await store.load(signal);
  assert.ok(first !== undefined);
  let puts = 0;
  dynamo.choose = (operation) =>
    operation === "PutItem" && ++puts === 4 ? { error: "ValidationException" } : undefined;
  await assert.rejects(store.write({ id: "second" }, first, signal), { code: "REJECTED" });
  dynamo.reset();
  expect(await store.load(signal)).toEqual(first);
  expect(await table.parts(name)).toHaveLength(2);
  now += 2 * 60 * 60_000;
  const written = await store.write({ id: "third" }, first, signal);
  expect(await table.parts(name)).toEqual([`content/${written?.revision}`, "document"]);
});

test("what is being confirmed is not told as a change of somebody else's while its answer is on its way", async () => {
  const { store, staging, first } = await opened();
  const staged = await staging.stage({ id: "second" }, first, REQUEST, signal);
  assert.ok(staged !== undefined);
  const [put, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let reads = 0;
  dynamo.beforeAnswer = async (operation) => {
    if (operation === "GetItem") reads++;
    else {
      put.resolve();
      await answered.promise;
    }
  };
  const over = new AbortController();
  let told = 0;
  const watching = (async () => {
    for await (const _ of store.watch(over.signal)) told++;
  })();
  const confirmed = staging.confirm(staged, signal);
  await put.promise;
  const before = reads;
  await vi.waitUntil(() => reads > before + 4, PATIENCE);
  answered.resolve();
  expect(await confirmed).toBe(true);
  const after = reads;
  await vi.waitUntil(() => reads > after + 2, PATIENCE);
  expect(told).toBe(0);
  over.abort();
  await watching;
});

test("what a watch read before its own store confirmed something else is not told when it arrives", async () => {
  const { store, staging, first } = await opened();
  const staged = await staging.stage({ id: "second" }, first, REQUEST, signal);
  assert.ok(staged !== undefined);
  const [read, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let reads = 0;
  dynamo.beforeAnswer = async (operation) => {
    if (operation !== "GetItem" || ++reads > 1) return;
    read.resolve();
    await answered.promise;
  };
  const over = new AbortController();
  let told = 0;
  const watching = (async () => {
    for await (const _ of store.watch(over.signal)) told++;
  })();
  await read.promise;
  expect(await staging.confirm(staged, signal)).toBe(true);
  answered.resolve();
  const after = reads;
  await vi.waitUntil(() => reads > after + 3, PATIENCE);
  expect(told).toBe(0);
  over.abort();
  await watching;
});
