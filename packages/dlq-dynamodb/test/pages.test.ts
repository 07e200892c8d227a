import { deadLetterHead, systemClock } from "@bridge/ports";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeEach, expect, test } from "vitest";
import { justAfter, orderKey, positionOf } from "../src/order-key.ts";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());
beforeEach(() => dynamo.reset());

const { signal } = new AbortController();

test.each(["5", "5x", "0001767225600000x", "0001767225600000/other", "9007199254740990", "12/a"])(
  "operators 1.3: a page ends behind an entry whose key somebody has changed to %s, so that none comes again",
  (key) => {
    const oldest = positionOf(key, "id", "oldest");
    expect(justAfter(orderKey(oldest.failedAt, oldest.id)) > key).toBe(true);
    const newest = positionOf(key, "id", "newest");
    expect(orderKey(newest.failedAt, newest.id) < key).toBe(true);
    const own = orderKey(1_767_225_600_000, "id");
    expect(positionOf(own, "id", "oldest")).toEqual({ failedAt: 1_767_225_600_000, id: "id" });
  },
);

test("operators 2: groups are looked at once in 30 s, by the newest entries, with a request a partition", async () => {
  let now = 0;
  const clock = { ...systemClock, monotonic: () => now };
  await using store = await openDlq(dynamo, await makeTable(dynamo), { clock });
  for (const id of ["a", "b"]) await store.put(deadLetter(id, { failedAt: Date.now() }), signal);
  dynamo.reset();
  const request = { query: {}, by: ["routeId"], maxGroups: 10, buckets: 0 } as const;
  const facets = await store.facets(request, signal);
  expect(facets).toMatchObject({ total: 2, exact: true, groups: [{ key: { routeId: "route" }, count: 2 }] });
  expect(dynamo.operations.filter((operation) => operation === "Query")).toHaveLength(20);
  await store.put(deadLetter("c"), signal);
  now = 29_999;
  expect(await store.facets(request, signal)).toBe(facets);
  now = 30_000;
  expect((await store.facets(request, signal)).total).toBe(3);
});

test("operators 1.2: a page by what no index has reads along, and by a route and a category asks 4 partitions", async () => {
  await using store = await openDlq(dynamo, await makeTable(dynamo));
  const entries = Array.from({ length: 12 }, (_, i) =>
    deadLetter(`e${i + 10}`, { failedAt: i, bindingId: i % 4 === 0 ? "wanted" : "other" }),
  );
  await Promise.all(entries.map((entry) => store.put(entry, signal)));
  dynamo.reset();
  const page = await store.page({ bindingId: "wanted" }, { limit: 2, order: "newest", budget: 100 }, signal);
  expect(page).toMatchObject({ entries: [{ id: "e18" }, { id: "e14" }], next: { failedAt: 1, id: "e11" } });
  dynamo.reset();
  const query = { routeId: "route", category: "permanent" } as const;
  const all = await store.page(query, { limit: 20, order: "oldest", budget: 100 }, signal);
  expect(all.entries).toEqual(entries.map(deadLetterHead));
  expect(dynamo.operations).toEqual(["Query", "Query", "Query", "Query"]);
});
