import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { type Consumed } from "../../src/client/consumption.ts";
import { DynamoClient } from "../../src/client/dynamo-client.ts";
import { systemClock, systemRandom } from "@bridge/ports";
import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeTable, openOn } from "./support/outbox.ts";
import { claimAll, done, recordOf } from "./support/records.ts";

const BATCH = 100;
const signal = new AbortController().signal;
let dynamo: TestDynamo;

beforeAll(async () => void (dynamo = await testDynamo()));
afterAll(() => dynamo[Symbol.asyncDispose]());

/** Persists, claims, sends (which is nothing here) and finishes, as a route does that has 100 messages in flight. */
async function cycle(messages: number, keyOf: (index: number) => string | undefined) {
  const table = await makeTable(dynamo);
  const units = { read: 0, write: 0 };
  const onConsumed = ({ operation, units: used }: Consumed): void => {
    units[/Get|Query/.test(operation) ? "read" : "write"] += used;
  };
  await using store = await openOn(dynamo, table, { dynamo: { onConsumed } });
  dynamo.reset();
  let delivered = 0;
  for (let start = 0; start < messages; start += BATCH) {
    const records = Array.from({ length: BATCH }, (_, i) =>
      recordOf(`${start + i}`, { orderingKey: keyOf(start + i) }),
    );
    await store.persist(records, signal);
    for (;;) {
      const claims = await claimAll(store, signal, BATCH);
      if (claims.length === 0) break;
      const ended = await store.finish(claims.map(done), signal);
      delivered += ended.filter(Boolean).length;
    }
  }
  expect(delivered).toBe(messages);
  const requests = dynamo.operations.length;
  return { requests, units, versions: await versionsIn(table) };
}

/** How often each item that many messages share was written. */
async function versionsIn(table: string): Promise<readonly number[]> {
  await using client = new DynamoClient({ clock: systemClock, random: systemRandom(), sdk: dynamo.sdk });
  const { Items = [] } = await client.send(
    new ScanCommand({
      TableName: table,
      FilterExpression: "attribute_exists(#version)",
      ExpressionAttributeNames: { "#version": "version" },
    }),
    signal,
  );
  return Items.map(({ version }) => Number(version?.N));
}

test("without keys: 3.1 requests a message, and 3.1 write units beside those of the indexes", async () => {
  const { requests, units, versions } = await cycle(300, () => undefined);
  expect(requests).toBeLessThanOrEqual(3.15 * 300);
  if (dynamo.isDynalite) expect(units.write).toBeLessThanOrEqual(3.1 * 300);
  // A round of 100 messages looks once for what others may have left.
  expect(units.read).toBeLessThanOrEqual(10 * 3);
  expect(versions).toEqual([]);
});

test("every message with a key of its own: 3.6 requests a message, and no item is written for each of them", async () => {
  const { requests, units, versions } = await cycle(200, (index) => `key-${index}`);
  expect(requests).toBeLessThanOrEqual(3.6 * 200);
  if (dynamo.isDynalite) expect(units.write).toBeLessThanOrEqual(3.6 * 200);
  expect(Math.max(...versions)).toBeLessThanOrEqual(2 * 2);
});

test("many messages of few keys: 3.3 requests a message", async () => {
  const { requests, versions } = await cycle(200, (index) => `key-${index % 7}`);
  expect(requests).toBeLessThanOrEqual(3.3 * 200);
  expect(Math.max(...versions)).toBeLessThanOrEqual(3 * 2);
});
