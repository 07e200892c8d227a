import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeEach, expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
const { signal } = new AbortController();
const units = new Map<string, number>();
const store = await openDlq(dynamo, await makeTable(dynamo), {
  onConsumed: ({ operation, units: more }) => units.set(operation, (units.get(operation) ?? 0) + more),
});

await Promise.all(Array.from({ length: 120 }, (_, i) => store.put(entry(i), signal)));

beforeEach(() => {
  units.clear();
  dynamo.reset();
});
afterAll(async () => {
  await store[Symbol.asyncDispose]();
  await dynamo[Symbol.asyncDispose]();
});

/** As they are: an id of 64 digits, an error text, 1 KB of payload. */
function entry(i: number, payload = 1_024) {
  return deadLetter(String(i).padStart(64, "0"), {
    routeId: "alarms",
    bindingId: "to-out",
    category: "rejected",
    lastError: "the target answered 422 Unprocessable Entity",
    failedAt: 1_767_225_600_000 + i,
    envelope: { payload: new Uint8Array(payload) },
  });
}

function requests(): Record<string, number> {
  return Object.fromEntries([...new Set(dynamo.operations)].map((operation) => [operation, countOf(operation)]));
}

function countOf(operation: string): number {
  return dynamo.operations.filter((other) => other === operation).length;
}

test("a put is one request, and a write unit for each KB; again it looks what is there", async () => {
  await store.put(entry(1_000), signal);
  expect(requests()).toEqual({ PutItem: 1 });
  if (dynamo.isDynalite) expect(units).toEqual(new Map([["PutItem", 2]]));
  await store.put(entry(1_000), signal);
  expect(requests()).toEqual({ PutItem: 2, GetItem: 1 });
  await store.put(entry(1_001, 100 * 1_024), signal);
  if (dynamo.isDynalite) expect(units.get("PutItem")).toBe(2 + 101);
  await store.admin.delete([entry(1_000).id, entry(1_001).id], signal);
});

test("a page is one request a partition: 4 of a category, 20 of all of them, and reads no payloads", async () => {
  await store.list({ category: "rejected" }, { limit: 101, offset: 0 }, signal);
  expect(requests()).toEqual({ Query: 4 });
  expect(units.get("Query")).toBeLessThanOrEqual(12);
  dynamo.reset();
  await store.list({ category: "rejected", routeId: "alarms" }, { limit: 101, offset: 50 }, signal);
  expect(requests()).toEqual({ Query: 4 });
  dynamo.reset();
  await store.list({}, { limit: 101, offset: 0 }, signal);
  expect(requests()).toEqual({ Query: 20 });
});

test("a range of time without an entry asks nothing", async () => {
  expect(await store.list({ since: 10, before: 10 }, { limit: 10, offset: 0 }, signal)).toEqual([]);
  expect(await store.admin.deleteWhere({ since: 10, before: 9 }, undefined, signal)).toBe(0);
  expect(dynamo.operations).toEqual([]);
});

test("the summary counts up to 1,000 with one request a partition", async () => {
  expect(await store.count(1_000, signal)).toBe(120);
  expect(requests()).toEqual({ Query: 20 });
});

test("a look at one entry is one request", async () => {
  await store.get(entry(7).id, signal);
  expect(requests()).toEqual({ GetItem: 1 });
  expect(units).toEqual(new Map([["GetItem", 1]]));
});

test("a delete is one request an entry, and by filter one a partition besides", async () => {
  await store.admin.delete([entry(0).id, entry(1).id, entry(0).id], signal);
  expect(requests()).toEqual({ UpdateItem: 2 });
  if (dynamo.isDynalite) expect(units).toEqual(new Map([["UpdateItem", 4]]));
  dynamo.reset();
  expect(await store.admin.deleteWhere({ routeId: "alarms", category: "rejected" }, 50, signal)).toBe(50);
  expect(requests()).toEqual({ Query: 4, UpdateItem: 50 });
});
