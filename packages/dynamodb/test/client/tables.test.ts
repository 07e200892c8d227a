import assert from "node:assert/strict";
import { DescribeTableCommand } from "@aws-sdk/client-dynamodb";
import { patientClock } from "@bridge/conformance";
import { BridgeError, type LogFields, silentLogger, systemClock } from "@bridge/ports";
import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { safeParse } from "valibot";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTable } from "../../src/client/create-table.ts";
import { openTable } from "../../src/client/open-table.ts";
import { type TableDescription, tableName } from "../../src/client/table-description.ts";
import { clientOf, notesTable, optionsOf } from "./support/notes.ts";

const { signal } = new AbortController();
let dynamo: TestDynamo;

beforeAll(async () => {
  dynamo = await testDynamo();
});
afterAll(() => dynamo[Symbol.asyncDispose]());
beforeEach(() => dynamo.reset());

async function create(description: TableDescription) {
  await using client = clientOf(dynamo);
  return await createTable(description, client, systemClock, signal);
}

test("a table is made as described, paid by request, and the second time it is there", async () => {
  const ttl = dynamo.isDynalite ? "unsupported" : "enabled";
  expect(await create(notesTable("made"))).toEqual({ table: "created", ttl });
  expect(await create(notesTable("made"))).toEqual({ table: "present", ttl });
  await using client = clientOf(dynamo);
  const { Table } = await client.send(new DescribeTableCommand({ TableName: "made" }), signal);
  expect(Table).toMatchObject({
    TableStatus: "ACTIVE",
    BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" },
    KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
    GlobalSecondaryIndexes: [
      {
        IndexName: "by_time",
        KeySchema: [
          { AttributeName: "shard", KeyType: "HASH" },
          { AttributeName: "at", KeyType: "RANGE" },
        ],
        Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["title"] },
      },
    ],
  });
});

test("of several that make it at once, one does", async () => {
  const results = await Promise.all(Array.from({ length: 5 }, () => create(notesTable("raced"))));
  expect(results.filter(({ table }) => table === "created")).toHaveLength(1);
});

test("finding 6.18: of several that switch the time to live on at once, the later ones find it on", async () => {
  const answer = (TimeToLiveStatus: string) => ({
    answer: { TimeToLiveDescription: { TimeToLiveStatus, AttributeName: "expires_at" } },
  });
  dynamo.inject("DescribeTimeToLive", answer("DISABLED"));
  dynamo.inject("UpdateTimeToLive", { error: "ValidationException" });
  dynamo.inject("DescribeTimeToLive", answer("ENABLING"));
  expect(await create(notesTable("switched"))).toEqual({ table: "created", ttl: "enabled" });
});

test("a lost answer to its making is no error", async () => {
  dynamo.inject("CreateTable", "lose-answer");
  expect(await create(notesTable("lost"))).toMatchObject({ table: "present" });
});

test("one that is being deleted is waited for, and made anew", async () => {
  dynamo.inject("DescribeTable", { answer: { Table: { TableStatus: "DELETING" } } });
  expect(await create(notesTable("deleted"))).toMatchObject({ table: "created" });
});

test("it is used when it and its indexes are ready, not before", async () => {
  const { ttlAttribute: _, ...description } = notesTable("slow");
  dynamo.inject("DescribeTable", { error: "ResourceNotFoundException" }, 2);
  expect(await create(description)).toEqual({ table: "created", ttl: "none" });
  expect(dynamo.operations).toEqual(["DescribeTable", "CreateTable", "DescribeTable", "DescribeTable"]);
});

test("a table of another form is refused, with the differences", async () => {
  await create({
    name: "other",
    key: { partition: { name: "id", type: "N" } },
    indexes: [
      { name: "by_time", key: { partition: { name: "shard", type: "S" } }, projection: "keys" },
      { name: "by_more", key: { partition: { name: "more", type: "B" } }, projection: "all" },
    ],
  });
  const wanted = notesTable("other");
  const again: TableDescription = {
    ...wanted,
    indexes: [...wanted.indexes, { name: "third", key: { partition: { name: "id", type: "S" } }, projection: "all" }],
  };
  const text =
    "table other: its key is id (N) instead of id (S); the key of its index by_time is shard (S) instead of shard (S), " +
    "at (N); its index by_time does not hold title; it has no index third: " +
    "give the store a table of its own, made by bridge-aws -create-tables";
  await assert.rejects(create(again), { code: "SCHEMA_VIOLATION", message: text });
  await assert.rejects(openTable(again, optionsOf(dynamo), signal), { code: "SCHEMA_VIOLATION", message: text });
});

test("a store opens on its table; without one it is told how to make it", async () => {
  await create(notesTable("there"));
  await using client = await openTable(notesTable("there"), optionsOf(dynamo), signal);
  expect(client.health()).toEqual({ setAside: [] });
  await assert.rejects(openTable(notesTable("gone"), optionsOf(dynamo), signal), (error) => {
    assert.ok(BridgeError.is(error));
    assert.equal(error.code, "DESTINATION_NOT_FOUND");
    assert.match(error.message, /table gone.*bridge-aws -create-tables/);
    return true;
  });
});

test("a store opens although the service is away, or does not let its table be looked at, and says so", async () => {
  for (const fault of ["AccessDeniedException", "ValidationException"]) {
    const lines: unknown[] = [];
    const logger = { ...silentLogger, warn: (message: string, fields?: LogFields) => lines.push([message, fields]) };
    dynamo.inject("DescribeTable", { error: fault });
    await using client = await openTable(notesTable("there"), { ...optionsOf(dynamo), logger }, signal);
    expect(client.health().fault).toContain(fault);
    expect(lines).toHaveLength(1);
  }
});

test("a store that nobody uses tells when the service is back", async () => {
  // What is waited for between two looks takes hardly any time here.
  const every: typeof patientClock.every = (_, tick) => patientClock.every(20, tick);
  const description: TableDescription = {
    name: "looked-at",
    key: { partition: { name: "group", type: "N" }, sort: { name: "id", type: "B" } },
    indexes: [],
  };
  await create(description);
  const options = { ...optionsOf(dynamo), clock: { ...patientClock, every } };
  dynamo.inject("DescribeTable", { error: "AccessDeniedException" });
  // It has to be let write, and not only read.
  dynamo.inject("PutItem", { error: "AccessDeniedException" }, 3);
  await using client = await openTable(description, options, signal);
  await expect.poll(() => client.health(), { timeout: 30_000 }).toEqual({ setAside: [] });
  expect(dynamo.operations.filter((operation) => operation === "PutItem").length).toBeGreaterThanOrEqual(4);
});

test("an aborted opening rejects with the reason and leaves nothing open", async () => {
  const reason = new Error("given up");
  await assert.rejects(
    openTable(notesTable("there"), optionsOf(dynamo), AbortSignal.abort(reason)),
    (error) => error === reason,
  );
  const caller = new AbortController();
  dynamo.inject("DescribeTable", "hang");
  const opening = openTable(notesTable("there"), optionsOf(dynamo), caller.signal);
  await expect.poll(() => dynamo.operations.length).toBeGreaterThan(0);
  caller.abort(reason);
  await assert.rejects(opening, (error) => error === reason);
});

test.each([
  ["bridge-dlq", true],
  ["a.b_C-9", true],
  ["ab", false],
  ["with space", false],
  ["x".repeat(256), false],
])("the name %s of a table: %s", (name, valid) => {
  expect(safeParse(tableName(), name).success).toBe(valid);
});
