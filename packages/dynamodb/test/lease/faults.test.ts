import assert from "node:assert/strict";
import { DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { LeaseRecord } from "@bridge/ports";
import { type DynamoFault, testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, expect, test } from "vitest";
import { makeTable, openLeases } from "./support/lease-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());

const { signal } = new AbortController();
const KEY = "plant-7/broker";
const first = (holder: string): LeaseRecord => ({ holder, token: 1, beat: 1, ttlMs: 15_000 });

test.each<DynamoFault>([
  "lose-answer",
  "cut",
  "empty",
  { error: "InternalServerError", status: 500 },
  { error: "ThrottlingException" },
])("a lease is taken and renewed once, and its holder knows, through %j", async (fault) => {
  const table = await makeTable(dynamo);
  await using store = await openLeases(dynamo, table);
  let held: LeaseRecord | undefined;
  for (let beat = 1; beat <= 3; beat++) {
    const next = { ...first("a"), beat };
    dynamo.inject("PutItem", fault, 2);
    expect(await store.replace(KEY, held, next, signal)).toBe(true);
    expect(await store.read(KEY, signal)).toEqual(next);
    held = next;
  }
});

test("of 20 takers whose answers are lost at random, one has the lease, and nobody else believes it", async () => {
  const table = await makeTable(dynamo);
  await using store = await openLeases(dynamo, table);
  let requests = 0;
  const faults = [undefined, "lose-answer", "cut", { error: "ThrottlingException" }, "empty"] as const;
  dynamo.choose = (operation) => (operation === "PutItem" ? faults[(requests++ * 7 + 3) % faults.length] : undefined);
  const takers = Array.from({ length: 20 }, (_, i) => first(`taker-${i}`));
  const results = await Promise.allSettled(takers.map((taker) => store.replace(KEY, undefined, taker, signal)));
  dynamo.reset();
  const holder = (await store.read(KEY, signal))?.holder;
  expect(takers.map((taker) => taker.holder)).toContain(holder);
  // Who heard nothing for too long does not know, the holder too: it finds itself in the record when it looks.
  for (const [i, result] of results.entries()) {
    if (result.status === "fulfilled") expect(result.value).toBe(takers[i]?.holder === holder);
    else
      expect(result.reason).toMatchObject({
        code: expect.stringMatching(/^(CONNECTION_LOST|TIMEOUT|UNAVAILABLE|THROTTLED)$/) as string,
      });
  }
});

test("a replacement whose answer was lost, and which somebody has replaced since, is unknown, not refused", async () => {
  const table = await makeTable(dynamo);
  await using store = await openLeases(dynamo, table);
  await using other = await openLeases(dynamo, table);
  dynamo.inject("PutItem", "lose-answer");
  let overtaken = false;
  dynamo.beforeAnswer = async (operation) => {
    if (operation !== "PutItem" || overtaken) return;
    overtaken = true;
    assert.ok(await other.replace(KEY, first("a"), { ...first("b"), token: 2 }, signal));
  };
  await assert.rejects(store.replace(KEY, undefined, first("a"), signal), {
    code: "CONNECTION_LOST",
    message: `whether lease ${KEY} was replaced is unknown: no answer came in time`,
  });
  dynamo.reset();
});

test("the store tells of a service that does not work, and when it works again", async () => {
  const table = await makeTable(dynamo);
  await using store = await openLeases(dynamo, table);
  expect(store.health?.()).toEqual({ setAside: [] });
  dynamo.inject("GetItem", { error: "AccessDeniedException" });
  await assert.rejects(store.read(KEY, signal), { code: "NOT_AUTHORIZED" });
  expect(store.health?.().fault).toContain("AccessDeniedException");
  await store.read(KEY, signal);
  expect(store.health?.()).toEqual({ setAside: [] });
});

test.each([
  { ttl_ms: { S: "soon" } },
  { ttl_ms: { N: "-1" } },
  { token: { S: "x" } },
  { token: { N: "1.5" } },
  { beat: { BOOL: true } },
  { holder: { N: "5" } },
  { holder: undefined },
])("a lease whose item somebody has changed is nobody's to take: %j", async (change) => {
  const table = await makeTable(dynamo);
  await using store = await openLeases(dynamo, table);
  await store.replace(KEY, undefined, first("a"), signal);
  const client = new DynamoDBClient(dynamo.sdk);
  const at = { TableName: table, Key: { lease_key: { S: KEY } } };
  const { Item = {} } = await client.send(new GetItemCommand(at));
  const spoiled = Object.entries({ ...Item, ...change }).filter(([, value]) => value !== undefined);
  await client.send(new PutItemCommand({ TableName: table, Item: Object.fromEntries(spoiled) }));
  await expect(store.read(KEY, signal)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: expect.stringMatching(/"plant-7\/broker".*somebody has changed it/) as string,
  });
  await client.send(new PutItemCommand({ TableName: table, Item }));
  expect(await store.read(KEY, signal)).toEqual(first("a"));
  client.destroy();
});
