import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { DynamoClient } from "@bridge/dynamodb";
import { SuiteClock } from "@bridge/conformance";
import { systemClock } from "@bridge/ports";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq, SEAMS } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());

const { signal } = new AbortController();
/** Not in the past: a service with time to live removes what has expired by its own clock. */
const NOW = Math.ceil(Date.now() / 1_000) * 1_000;
const HOUR = 3_600_000;
const ALL = { limit: 100, offset: 0 };

test("what has expired is not there for anybody, long before the service removes it", async () => {
  // Time of day that is set by hand; timers are real.
  const clock = { ...systemClock, now: () => now };
  let now = NOW;
  await using store = await openDlq(dynamo, await makeTable(dynamo), { clock, retentionMs: HOUR });
  await store.put(deadLetter("old", { failedAt: NOW }), signal);
  await store.put(deadLetter("new", { failedAt: NOW + 1 }), signal);
  const ids = async () => (await store.list({}, ALL, signal)).map(({ id }) => id);

  now = NOW + HOUR - 1;
  expect(await ids()).toEqual(["old", "new"]);

  now = NOW + HOUR;
  expect(await ids()).toEqual(["new"]);
  expect(await store.list({ since: 0, before: NOW + 1 }, ALL, signal)).toEqual([]);
  expect(await store.count(10, signal)).toBe(1);
  expect(await store.get("old", signal)).toBeUndefined();
  expect(await store.get("new", signal)).toBeDefined();
  expect(await store.admin.delete(["old"], signal)).toEqual(new Set());
  expect(await store.admin.deleteWhere({}, undefined, signal)).toBe(1);
});

test("an entry that has expired is no reason not to store a new one of its id", async () => {
  const clock = new SuiteClock(NOW);
  const table = await makeTable(dynamo);
  await using store = await openDlq(dynamo, table, {
    clock: { ...systemClock, now: () => clock.now() },
    retentionMs: HOUR,
  });
  await store.put(deadLetter("a", { failedAt: NOW, reason: "first" }), signal);
  await clock.pass(HOUR);
  await store.put(deadLetter("a", { failedAt: NOW + HOUR, reason: "second" }), signal);
  expect((await store.get("a", signal))?.reason).toBe("second");
  expect(await store.list({}, ALL, signal)).toHaveLength(1);
});

test("the service is told when it may remove an entry, in whole seconds and not too early; without retention, never", async () => {
  const table = await makeTable(dynamo);
  await using kept = await openDlq(dynamo, table);
  await using store = await openDlq(dynamo, table, { retentionMs: HOUR });
  const failedAt = Date.now();
  await kept.put(deadLetter("kept", { failedAt }), signal);
  await store.put(deadLetter("expires", { failedAt }), signal);
  await using client = new DynamoClient({ ...SEAMS, sdk: dynamo.sdk });
  const expiry = async (id: string) => {
    const { Item } = await client.send(new GetItemCommand({ TableName: table, Key: { id: { S: id } } }), signal);
    return Item?.["expires_at"]?.N;
  };
  expect(await expiry("kept")).toBeUndefined();
  expect(await expiry("expires")).toBe(String(Math.ceil((failedAt + HOUR) / 1_000)));
});
