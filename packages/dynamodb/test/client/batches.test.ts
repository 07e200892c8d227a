import assert from "node:assert/strict";
import type { WriteRequest } from "@aws-sdk/client-dynamodb";
import { systemClock } from "@bridge/ports";
import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { readBatch, writeBatch } from "../../src/client/batches.ts";
import { AT_ONCE, clientOf, makeNotes } from "./support/notes.ts";

const TABLE = "notes";
const { signal } = new AbortController();
let dynamo: TestDynamo;

beforeAll(async () => {
  dynamo = await testDynamo();
  await makeNotes(dynamo, TABLE);
});
afterAll(() => dynamo[Symbol.asyncDispose]());
beforeEach(() => dynamo.reset());

function keys(prefix: string, count: number) {
  return Array.from({ length: count }, (_, i) => ({ id: { S: `${prefix}-${i}` } }));
}

function puts(prefix: string, count: number): WriteRequest[] {
  return keys(prefix, count).map((key) => ({ PutRequest: { Item: { ...key, text: { S: "text" } } } }));
}

test("writes go 25 a request, reads 100", async () => {
  await using client = clientOf(dynamo);
  const seams = { client, clock: systemClock, random: AT_ONCE };
  await writeBatch(TABLE, puts("many", 120), seams, signal);
  const found = await readBatch(TABLE, [...keys("many", 120), ...keys("none", 5)], seams, signal);
  expect(new Set(found.map(({ id }) => id?.S)).size).toBe(120);
  expect(dynamo.operations).toEqual([
    ...Array.from({ length: 5 }, () => "BatchWriteItem"),
    "BatchGetItem",
    "BatchGetItem",
  ]);
  const deletes = keys("many", 120).map((Key) => ({ DeleteRequest: { Key } }));
  await writeBatch(TABLE, deletes, seams, signal);
  expect(await readBatch(TABLE, keys("many", 120), seams, signal)).toEqual([]);
});

test("what the service leaves over is asked for again, and nothing else", async () => {
  await using client = clientOf(dynamo);
  const seams = { client, clock: systemClock, random: AT_ONCE };
  dynamo.inject("BatchWriteItem", { atMost: 10 });
  dynamo.inject("BatchWriteItem", { atMost: 0 });
  await writeBatch(TABLE, puts("left", 25), seams, signal);
  dynamo.inject("BatchGetItem", { atMost: 3 }, 2);
  const found = await readBatch(TABLE, keys("left", 25), seams, signal, { ProjectionExpression: "id" });
  expect(found.map((item) => Object.keys(item))).toEqual(Array.from({ length: 25 }, () => ["id"]));
  expect(dynamo.operations).toHaveLength(6);
});

test("what is left over again and again is THROTTLED", async () => {
  await using client = clientOf(dynamo);
  const seams = { client, clock: systemClock, random: AT_ONCE };
  dynamo.inject("BatchWriteItem", { atMost: 0 }, 10);
  await assert.rejects(writeBatch(TABLE, puts("never", 3), seams, signal), {
    code: "THROTTLED",
    message: "3 items of a batch were left over 10 times",
  });
});

test("an empty batch asks nothing", async () => {
  await using client = clientOf(dynamo);
  const seams = { client, clock: systemClock, random: AT_ONCE };
  await writeBatch(TABLE, [], seams, signal);
  expect(await readBatch(TABLE, [], seams, signal)).toEqual([]);
  expect(dynamo.operations).toEqual([]);
});
