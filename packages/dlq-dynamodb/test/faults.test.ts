import { systemClock } from "@bridge/ports";
import assert from "node:assert/strict";
import { type DynamoFault, testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeEach, expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());
beforeEach(() => dynamo.reset());

const { signal } = new AbortController();
const table = await makeTable(dynamo);
const ENTRY = deadLetter("a", { envelope: { payload: Uint8Array.of(1, 2, 3) } });

test.each<DynamoFault>([
  { error: "ThrottlingException" },
  { error: "InternalServerError", status: 500 },
  "cut",
  "lose-answer",
  "empty",
])("an entry is written, read and deleted once, and its deleter is told, through %j", async (fault) => {
  await using store = await openDlq(dynamo, table);
  for (const operation of ["PutItem", "GetItem", "Query", "UpdateItem"]) dynamo.inject(operation, fault, 2);
  await store.put(ENTRY, signal);
  expect(await store.get("a", signal)).toEqual(ENTRY);
  expect(await store.list({}, { limit: 10, offset: 0 }, signal)).toHaveLength(1);
  expect(await store.admin.delete(["a"], signal)).toEqual(new Set(["a"]));
  expect(await store.get("a", signal)).toBeUndefined();
});

test("a write that is not answered is not taken for written, and said again it is there once", async () => {
  await using store = await openDlq(dynamo, table);
  await using hurried = await openDlq(dynamo, table, { clock: inAHurry() });
  dynamo.inject("PutItem", "lose-answer", 1_000);
  await assert.rejects(hurried.put(ENTRY, signal), { code: "CONNECTION_LOST", charged: false });
  expect(hurried.health?.().fault).toContain("the connection was lost");
  dynamo.reset();
  await hurried.put(ENTRY, signal);
  expect(hurried.health?.()).toEqual({ setAside: [] });
  expect(await store.list({}, { limit: 10, offset: 0 }, signal)).toHaveLength(1);
  await store.admin.delete(["a"], signal);
});

test("a delete that fails on the way says so, and saying it again deletes the rest", async () => {
  await using store = await openDlq(dynamo, table);
  const ids = Array.from({ length: 60 }, (_, i) => `id-${i}`);
  await Promise.all(ids.map((id) => store.put(deadLetter(id), signal)));
  let deletes = 0;
  dynamo.choose = (operation) =>
    operation === "UpdateItem" && ++deletes === 40 ? { error: "AccessDeniedException" } : undefined;
  await assert.rejects(store.admin.delete(ids, signal), { code: "NOT_AUTHORIZED" });
  dynamo.reset();
  const left = await store.count(100, signal);
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThan(60);
  expect((await store.admin.delete(ids, signal)).size).toBe(left);
});

/** A clock by which the time of a call is soon up. */
function inAHurry() {
  let now = 0;
  return {
    ...systemClock,
    now: () => Date.now(),
    monotonic: () => (now += 2_000),
    delay: async (ms: number) => void (ms > 0 && (await new Promise((resolve) => setTimeout(resolve, ms)))),
    every: () => ({ [Symbol.dispose]() {} }),
  };
}
