import assert from "node:assert/strict";
import type { Consumed } from "../../src/client/consumption.ts";
import { type Clock, type StoredConfig, systemClock } from "@bridge/ports";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, describe, expect, test } from "vitest";
import { ConfigTable } from "./support/config-tables.ts";

const table = await ConfigTable.make(await testDynamo());
afterAll(() => table[Symbol.asyncDispose]());

const { signal } = new AbortController();
const REQUEST = { by: "plant-7-a", at: 1_000, leftBehindBefore: 0 };

describe("a document that somebody puts by hand", () => {
  test("is a string of JSON in one item, with its version in it", async () => {
    const name = table.newDocument();
    const store = await table.open(name);
    expect(store.source).toBe(`dynamodb:bridge-config/${name}`);
    await table.put(name, { document: { S: '{"config_version": 7, "bridge": {"id": "plant-7"}}' } });
    expect(await store.load(signal)).toMatchObject({ version: 7, document: { bridge: { id: "plant-7" } } });
  });

  test.each([
    [{ document: { M: {} } }, "its attribute document is no string: store the document as JSON in a string"],
    [{ documnet: { S: "{}" } }, "it has no attribute document: store the document there, as JSON in a string"],
    [{ document: { S: "bridge: {id: plant-7}" } }, "the configuration is not valid JSON"],
    [{ document: { S: '{"routes": [], "bridge": {}, "routes": []}' } }, 'the key "routes" is there twice'],
    [{ document: { S: '{"bridge": "abc' } }, "the configuration is not valid JSON (line 1 column 16)"],
    [{ document: { S: "[1]" } }, "the configuration is not a map of keys to values"],
    [{ revision: { S: "gone" }, version: { N: "3" } }, "the item that holds what was committed is gone"],
  ])("is refused as %j, with the remedy", async (attributes, message) => {
    const name = table.newDocument();
    const store = await table.open(name);
    await table.put(name, attributes);
    await assert.rejects(store.load(signal), (error) => {
      assert.ok(error instanceof Error && error.message.startsWith(`${store.source}: ${message}`), String(error));
      return true;
    });
  });

  test("counts over what was committed, also when it is added to the item that is there", async () => {
    const name = table.newDocument();
    await table.put(name, { document: { S: `{"id": "first"}` } });
    const store = await table.open(name);
    const first = await store.load(signal);
    assert.ok(first !== undefined);
    const written = await store.write({ id: "second" }, first, signal);
    assert.ok(written !== undefined && store.staging !== undefined);
    const staged = await store.staging.stage({ id: "third" }, written, REQUEST, signal);
    assert.ok(staged !== undefined);
    const head = await table.get(name, "document");
    await table.put(name, { ...head, document: { S: `{"id": "by hand"}` } });
    expect((await store.load(signal))?.document).toEqual({ id: "by hand" });
    expect(store.staging.seen).toBeUndefined();
    expect(await store.staging.confirm(staged, signal)).toBe(false);
    expect(await store.write({ id: "fourth" }, written, signal)).toBeUndefined();
    expect((await store.load(signal))?.document).toEqual({ id: "by hand" });
  });

  test("is what an undoing puts back, as the string that it was", async () => {
    const name = table.newDocument();
    const text = '{ "id" : "first" }';
    await table.put(name, { document: { S: text } });
    const store = await table.open(name);
    const first = await store.load(signal);
    const written = await store.write({ id: "second" }, first as StoredConfig, signal);
    await store.restore(first as StoredConfig, written as StoredConfig, signal);
    expect((await table.get(name, "document"))?.["document"]?.S).toBe(text);
    expect(await table.parts(name)).toEqual(["document"]);
  });
});

test("a document beyond what an item holds is refused before anything is sent", async () => {
  const name = table.newDocument();
  await table.put(name, { document: { S: "{}" } });
  const store = await table.open(name);
  const first = await store.load(signal);
  assert.ok(first !== undefined && store.maxDocumentBytes !== undefined);
  const large = "x".repeat(store.maxDocumentBytes - 40);
  expect(await store.write({ large }, first, signal)).toMatchObject({ version: 1 });
  const stored = await store.load(signal);
  assert.ok(stored !== undefined);
  await assert.rejects(store.write({ large: `${large}${large}` }, stored, signal), {
    code: "PAYLOAD_TOO_LARGE",
    message: /the configuration has \d+ bytes as JSON; 400000 at most can be stored$/,
  });
  await assert.rejects(
    store.staging?.stage({ large: `${large}${large}` }, stored, REQUEST, signal) ?? Promise.resolve(),
    {
      code: "PAYLOAD_TOO_LARGE",
    },
  );
  expect(await store.load(signal)).toEqual(stored);
});

test("a change beyond what an item holds is in the history with its places, without its values", async () => {
  const name = table.newDocument();
  const store = await table.open(name);
  const change = { path: "routes[a]", after: "x".repeat(500_000) };
  await store.history?.append({ version: 1, committedAt: 1, actor: "alice", changes: [change] }, signal);
  expect(await store.history?.list(signal)).toEqual([
    { version: 1, committedAt: 1, actor: "alice", changes: [{ path: "routes[a]" }] },
  ]);
});

test("documents in one table know nothing of each other", async () => {
  const [one, other] = [table.newDocument(), table.newDocument()];
  for (const name of [one, other]) await table.put(name, { document: { S: JSON.stringify({ id: name }) } });
  const store = await table.open(one);
  const first = await store.load(signal);
  await store.write({ id: "changed" }, first as StoredConfig, signal);
  await store.history?.append({ version: 1, committedAt: 1, actor: "alice", changes: [] }, signal);
  const others = await table.open(other);
  expect((await others.load(signal))?.document).toEqual({ id: other });
  expect(await others.history?.list(signal)).toEqual([]);
});

test("looks every poll_interval, give or take a tenth, as the configuration in force says", async () => {
  const name = table.newDocument();
  await table.put(name, { document: { S: "{}" } });
  const waits: number[] = [];
  const over = new AbortController();
  const clock: Clock = {
    ...systemClock,
    async delay(ms, bound) {
      // Bounds of requests are longer than these intervals.
      if (ms >= 1_000) return systemClock.delay(ms, bound);
      waits.push(ms);
      if (waits.length === 3) over.abort();
      bound.throwIfAborted();
    },
  };
  const draws = [0, 0.5, 1];
  const random = { id: () => "id", next: () => draws[waits.length] ?? 0 };
  const intervals = [100, 200, 400];
  const watch = () => ({ pollIntervalMs: intervals[waits.length] ?? 0 });
  const store = await table.open(name, { clock, random, watch });
  await store.load(signal);
  for await (const change of store.watch(over.signal)) assert.fail(`${change.kind} is told`);
  expect(waits.map(Math.round)).toEqual([90, 200, 440]);
});

test("what looking, loading and committing consume", async () => {
  const name = table.newDocument();
  const text = JSON.stringify({ text: "x".repeat(10_000) });
  await table.put(name, { document: { S: text } });
  const consumed: Consumed[] = [];
  const store = await table.open(name, { onConsumed: (one) => consumed.push(one) });
  const cost = async (work: () => Promise<unknown>): Promise<readonly Consumed[]> => {
    consumed.length = 0;
    await work();
    return consumed.map(({ operation, units }) => ({ operation, units: Math.ceil(units) }));
  };
  let stored = (await store.load(signal)) as StoredConfig;
  const { staging, history } = store;
  assert.ok(staging !== undefined && history !== undefined);
  const entry = { version: 1, committedAt: 1, actor: "alice", changes: [] };

  expect(await cost(() => staging.look(signal))).toEqual([{ operation: "GetItem", units: 3 }]);
  await store.write(stored.document, stored, signal);
  expect(await cost(() => staging.look(signal))).toEqual([{ operation: "GetItem", units: 1 }]);
  const load = [
    { operation: "GetItem", units: 1 },
    { operation: "GetItem", units: 3 },
  ];
  expect(await cost(async () => (stored = (await store.load(signal)) as StoredConfig))).toEqual(load);
  let staged = await staging.stage(stored.document, stored, REQUEST, signal);
  await staging.discard(staged as NonNullable<typeof staged>, signal);
  expect(await cost(async () => (staged = await staging.stage(stored.document, stored, REQUEST, signal)))).toEqual([
    { operation: "GetItem", units: 1 },
    { operation: "PutItem", units: 10 },
    { operation: "PutItem", units: 1 },
    { operation: "Query", units: 5 },
  ]);
  // What is replaced is kept.
  expect(await cost(() => staging.confirm(staged as NonNullable<typeof staged>, signal))).toEqual([
    { operation: "GetItem", units: 1 },
    { operation: "GetItem", units: 3 },
    { operation: "PutItem", units: 1 },
    { operation: "PutItem", units: 10 },
    { operation: "Query", units: 1 },
    { operation: "PutItem", units: 1 },
  ]);
  await history.append(entry, signal);
  expect(await cost(() => history.append(entry, signal))).toEqual([
    { operation: "Query", units: 1 },
    { operation: "PutItem", units: 1 },
  ]);
});
