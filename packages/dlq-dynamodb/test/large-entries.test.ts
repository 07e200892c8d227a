import assert from "node:assert/strict";
import { DeleteItemCommand, ScanCommand, type ScanCommandOutput } from "@aws-sdk/client-dynamodb";
import { DynamoClient } from "@bridge/dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import { type DeadLetter, systemRandom } from "@bridge/ports";
import { type DynamoFault, testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeEach, expect, test } from "vitest";
import { writtenEntry } from "../src/dead-letter-item.ts";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq, SEAMS } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());
beforeEach(() => dynamo.reset());

const { signal } = new AbortController();
const MIB = 1_048_576;

/** Of a megabyte of `fill`, which is three items and one that names them. */
function large(id: string, fill = 1, reason = "") {
  const payload = new Uint8Array(MIB).fill(fill);
  return deadLetter(id, { reason, failedAt: Date.now(), envelope: { subject: "größe", payload } });
}

/** The parts in a table: how many are there for good, and how many for a time. */
async function partsOf(table: string): Promise<{ readonly kept: number; readonly expiring: number }> {
  await using client = new DynamoClient({ ...SEAMS, sdk: dynamo.sdk });
  const parts = (await ids(client, table)).filter(({ id }) => id?.S?.includes("/"));
  const kept = parts.filter(({ expires_at: at }) => at === undefined).length;
  return { kept, expiring: parts.length - kept };
}

/** Millions of bytes are compared as bytes. */
function parted(entry: DeadLetter | undefined) {
  if (entry === undefined) return undefined;
  const { envelope, ...head } = entry;
  const { payload, ...rest } = envelope;
  return { head, rest, payload: Buffer.from(payload).toString("base64") };
}

test("what fits into an item to the last byte is one, and a byte more comes back whole too", async () => {
  const table = await makeTable(dynamo);
  await using store = await openDlq(dynamo, table, { retentionMs: 3_600_000 });
  const entry = (bytes: number) =>
    deadLetter(`größe ${bytes}`, { failedAt: Date.now(), envelope: { payload: new Uint8Array(bytes).fill(7) } });
  const isOne = (bytes: number) => writtenEntry(entry(bytes), Date.now(), systemRandom()).content === undefined;
  let [fits, parts] = [300 * 1_024, 400 * 1_024];
  while (parts - fits > 1) {
    const middle = (fits + parts) >> 1;
    if (isOne(middle)) fits = middle;
    else parts = middle;
  }
  for (const bytes of [fits, parts]) {
    await store.put(entry(bytes), signal);
    expect(await partsOf(table)).toEqual({ kept: 0, expiring: bytes === fits ? 0 : 1 });
    const kept = await store.get(`größe ${bytes}`, signal);
    expect(kept?.envelope.payload.length).toBe(bytes);
  }
});

test.each<DynamoFault | undefined>([
  undefined,
  { error: "ThrottlingException" },
  { error: "InternalServerError", status: 500 },
  "cut",
  "lose-answer",
])("a dead letter of a megabyte is written, read, listed and deleted, through %j", async (fault) => {
  const table = await makeTable(dynamo);
  await using store = await openDlq(dynamo, table);
  const entry = large("a");
  if (fault !== undefined)
    for (const operation of ["PutItem", "GetItem", "UpdateItem"]) dynamo.inject(operation, fault, 2);
  await store.put(entry, signal);
  await store.put(entry, signal);
  expect(await partsOf(table)).toEqual({ kept: 3, expiring: 3 });
  expect(parted(await store.get("a", signal))).toEqual(parted(entry));
  expect(await store.list({}, { limit: 10, offset: 0 }, signal)).toMatchObject([{ id: "a" }]);
  expect(await store.count(10, signal)).toBe(1);
  expect(await store.admin.delete(["a"], signal)).toEqual(new Set(["a"]));
  expect(await partsOf(table)).toEqual({ kept: 0, expiring: 6 });
  expect(await store.get("a", signal)).toBeUndefined();
  await store.put(entry, signal);
  expect(parted(await store.get("a", signal))).toEqual(parted(entry));
});

test("of ten writers of one id, all are told that it is stored, one entry is, whole, and nothing else stays", async () => {
  const table = await makeTable(dynamo);
  await using one = await openDlq(dynamo, table);
  await using other = await openDlq(dynamo, table);
  const entries = Array.from({ length: 10 }, (_, i) => large("a", i, `writer ${i}`));
  await Promise.all(entries.map((entry, i) => (i % 2 === 0 ? one : other).put(entry, signal)));
  const kept = await one.get("a", signal);
  expect(parted(kept)).toEqual(parted(entries.find(({ reason }) => reason === kept?.reason)));
  expect(await partsOf(table)).toEqual({ kept: 3, expiring: 27 });
});

test("a writer that fails before its entry is there leaves what the service removes within a day", async () => {
  const table = await makeTable(dynamo);
  await using store = await openDlq(dynamo, table);
  let puts = 0;
  dynamo.choose = (operation) =>
    operation === "PutItem" && ++puts > 2 ? { error: "AccessDeniedException" } : undefined;
  await assert.rejects(store.put(large("a"), signal), { code: "NOT_AUTHORIZED" });
  dynamo.reset();
  expect(await store.get("a", signal)).toBeUndefined();
  expect(await store.count(10, signal)).toBe(0);
  expect(await partsOf(table)).toEqual({ kept: 0, expiring: 2 });
});

test("one that is deleted while it is read is not there, and is not said to be spoiled", async () => {
  const table = await makeTable(dynamo);
  await using store = await openDlq(dynamo, table);
  await store.put(large("a"), signal);
  await using client = new DynamoClient({ ...SEAMS, sdk: dynamo.sdk });
  await using other = await openDlq(dynamo, table);
  let gets = 0;
  dynamo.beforeAnswer = async (operation) => {
    if (operation !== "GetItem" || ++gets !== 1) return;
    await other.admin.delete(["a"], signal);
    for (const { id } of await ids(client, table)) await remove(client, table, id?.S ?? "");
  };
  expect(await store.get("a", signal)).toBeUndefined();
  expect(store.health?.().spoiled).toBeUndefined();
});

test("one of which somebody has taken a part is not as it was written: it is listed, and never delivered", async () => {
  const table = await makeTable(dynamo);
  await using store = await openDlq(dynamo, table);
  await store.put(large("a"), signal);
  await using client = new DynamoClient({ ...SEAMS, sdk: dynamo.sdk });
  const [part] = (await ids(client, table)).filter(({ id }) => id?.S !== "a");
  await remove(client, table, part?.["id"]?.S ?? "");
  await assert.rejects(store.get("a", signal), { code: "INTERNAL" });
  expect(store.health?.().spoiled).toBe(1);
  expect(await store.list({}, { limit: 10, offset: 0 }, signal)).toHaveLength(1);
  expect(await store.admin.delete(["a"], signal)).toEqual(new Set(["a"]));
});

async function ids(client: DynamoClient, table: string): Promise<readonly Item[]> {
  const found: Item[] = [];
  let next: Item | undefined;
  do {
    const scan = {
      TableName: table,
      ConsistentRead: true,
      ProjectionExpression: "id, expires_at",
      ExclusiveStartKey: next,
    };
    const { Items = [], LastEvaluatedKey }: ScanCommandOutput = await client.send(new ScanCommand(scan), signal);
    found.push(...Items);
    next = LastEvaluatedKey;
  } while (next !== undefined);
  return found;
}

async function remove(client: DynamoClient, table: string, id: string): Promise<void> {
  await client.send(new DeleteItemCommand({ TableName: table, Key: { id: { S: id } } }), signal);
}
