import { type AttributeValue, DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { deadLetter, type QueriesOf, workThrough } from "@bridge/conformance";
import type { StoredJob } from "@bridge/ports";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, expect, test } from "vitest";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());

const { signal } = new AbortController();
const ALL = { limit: 99, offset: 0 };

/** What somebody may put into any attribute that is in no index; none: it is taken away. */
const VALUES: readonly (AttributeValue | undefined)[] = [
  ...["", "text", "{", "null", "[]", "5", "\u0001"].map((S) => ({ S })),
  { N: "-1e100" },
  { B: Uint8Array.of(0, 255) },
  { NULL: true },
  { M: {} },
  undefined,
];
/** What an index takes. */
const TEXTS: readonly AttributeValue[] = ["text", "!", "0", "9".repeat(20), "5/x", "rejected/0", "jobs", "\u0001"].map(
  (S) => ({ S }),
);
/** What asks for no route knows none but that of the head. */
const queriesOf: QueriesOf = ({ bindingId, category, errorCode, fingerprint }) => [
  { routeId: "route" },
  { category },
  { routeId: "route", bindingId, category, errorCode, fingerprint },
];
const IDS = ["a", ...VALUES.map((_, nth) => `b${nth}`), "c"];

/** Puts each of them into the attribute of an item of its own. */
async function putAll(
  table: string,
  attribute: string,
  values: readonly (AttributeValue | undefined)[],
  keyOf = (id: string): string => id,
): Promise<void> {
  const client = new DynamoDBClient(dynamo.sdk);
  for (const [nth, value] of values.entries()) {
    const key = { TableName: table, Key: { id: { S: keyOf(`b${nth}`) } } };
    const { [attribute]: _, ...rest } = (await client.send(new GetItemCommand(key))).Item ?? {};
    const Item = value === undefined ? rest : { ...rest, [attribute]: value };
    await client.send(new PutItemCommand({ TableName: table, Item }));
  }
  client.destroy();
}

test.each([
  "head",
  "marks",
  "marked_by",
  "envelope",
  "payload",
  "content_parts",
  "deleted_by",
  "asides",
  "restored_from",
])("whatever somebody puts into %s of dead letters, all are listed, counted, moved and deleted", async (attribute) => {
  const table = await makeTable(dynamo);
  await using store = await openDlq(dynamo, table);
  for (const id of IDS) await store.put(deadLetter(id), signal);
  await store.marks.mark(new Map(IDS.map((id) => [id, { quarantined: true }])), signal);
  await putAll(table, attribute, VALUES);
  await expect(workThrough(store, { count: IDS.length, queriesOf }, signal)).resolves.toBeUndefined();
});

test.each(["order_key", "category_shard", "route_shard"])(
  "whatever somebody puts into %s of dead letters, by which the indexes have them, all others are listed, counted and deleted",
  async (attribute) => {
    const table = await makeTable(dynamo);
    await using store = await openDlq(dynamo, table);
    for (const id of IDS) await store.put(deadLetter(id), signal);
    await putAll(table, attribute, TEXTS);
    const others = IDS.filter((_, nth) => nth === 0 || nth > TEXTS.length);
    for (const filter of [{}, { routeId: "route" }, { category: "permanent" }] as const) {
      const listed = (await store.list(filter, ALL, signal)).map(({ id }) => id);
      expect(listed).toEqual(expect.arrayContaining(others));
      for (const order of ["oldest", "newest"] as const)
        expect(
          (await store.page(filter, { limit: 99, budget: 99, order }, signal)).entries.map(({ id }) => id).toSorted(),
        ).toEqual(listed.toSorted());
    }
    const { total } = await store.facets({ query: {}, by: ["routeId"], maxGroups: 99, buckets: 0 }, signal);
    expect(total).toBe((await store.list({}, ALL, signal)).length);
    expect([...(await store.admin.delete(IDS, signal))]).toEqual(expect.arrayContaining(others));
    expect(await store.list({}, ALL, signal)).toEqual([]);
  },
);

test.each(["head", "revision", "document", "written_by", "order_key", "category_shard"])(
  "whatever somebody puts into %s of jobs, all others are handed out, and it can be deleted",
  async (attribute) => {
    const table = await makeTable(dynamo);
    await using store = await openDlq(dynamo, table);
    const job = (id: string): StoredJob => ({ id, revision: 1, state: "running", createdAt: 1, document: "{}" });
    for (const id of IDS) await store.jobs.put(job(id), undefined, signal);
    const isIndexed = attribute === "order_key" || attribute === "category_shard";
    await putAll(table, attribute, isIndexed ? TEXTS : VALUES, (id) => `job/${id}`);
    const listed = await store.jobs.list({ limit: 99 }, signal);
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(["a", "c"]));
    for (const { id, ...rest } of listed) {
      expect(Object.values(rest).map((value) => typeof value)).toEqual(["number", "string", "number", "string"]);
      expect(await store.jobs.get(id, signal)).toEqual({ id, ...rest });
    }
    await store.jobs.delete(IDS, signal);
    for (const id of IDS) expect(await store.jobs.put(job(id), undefined, signal)).toBe(true);
    expect(await store.jobs.list({ limit: 99 }, signal)).toHaveLength(IDS.length);
  },
);
