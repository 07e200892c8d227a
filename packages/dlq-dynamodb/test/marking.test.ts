import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { DynamoClient } from "@bridge/dynamodb";
import type { MarkChange } from "@bridge/ports";
import { type DynamoFault, testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeEach, expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq, SEAMS } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());
beforeEach(() => dynamo.reset());

const { signal } = new AbortController();
const REDRIVEN = { redriven: { lastAt: 7, lastCode: "TIMEOUT", lastError: "late" } } as const satisfies MarkChange;

test("operators 1.5: of 20 writers who mark the same entries at once each counts once, also when answers are lost", async () => {
  const table = await makeTable(dynamo);
  await using one = await openDlq(dynamo, table);
  await using other = await openDlq(dynamo, table);
  for (const id of ["a", "b"]) await one.put(deadLetter(id), signal);
  let updates = 0;
  const faults = [undefined, "lose-answer", undefined, "cut", undefined, { error: "ThrottlingException" }] as const;
  dynamo.choose = (operation) => (operation === "UpdateItem" ? faults[updates++ % faults.length] : undefined);
  const racers = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? one : other));
  const told = await Promise.all(
    racers.map((store, i) => {
      const note = { at: i, by: "racer", text: `note ${i}` };
      const ids = i % 3 === 0 ? ["a", "b", "unknown", "", "job/x"] : ["b", "a"];
      return store.marks.mark(new Map(ids.map((id) => [id, { ...REDRIVEN, note }])), signal);
    }),
  );
  expect(told).toEqual(racers.map(() => new Set(["a", "b"])));
  for (const id of ["a", "b"]) {
    const marks = (await other.get(id, signal))?.marks;
    expect(marks?.redrives?.count).toBe(20);
    expect(new Set(marks?.notes?.map(({ at }) => at)).size).toBe(20);
  }
});

test.each<DynamoFault>([{ error: "InternalServerError", status: 500 }, "cut", "lose-answer", "empty"])(
  "operators 1.5: a mark counts once through %j",
  async (fault) => {
    await using store = await openDlq(dynamo, await makeTable(dynamo));
    await store.put(deadLetter("a"), signal);
    for (const operation of ["UpdateItem", "GetItem"]) dynamo.inject(operation, fault, 2);
    expect(await store.marks.mark(new Map([["a", REDRIVEN]]), signal)).toEqual(new Set(["a"]));
    expect((await store.get("a", signal))?.marks?.redrives?.count).toBe(1);
  },
);

test.each(["{", "[]", "null", '{"notes":1}'])(
  "marks that somebody has changed to %s are none, hide nothing, and are made anew",
  async (text) => {
    const table = await makeTable(dynamo);
    await using store = await openDlq(dynamo, table);
    for (const id of ["a", "b"]) await store.put(deadLetter(id), signal);
    await using client = new DynamoClient({ ...SEAMS, sdk: dynamo.sdk });
    const change = { UpdateExpression: "SET marks = :text", ExpressionAttributeValues: { ":text": { S: text } } };
    await client.send(new UpdateItemCommand({ TableName: table, Key: { id: { S: "a" } }, ...change }), signal);
    expect(await store.list({}, { limit: 10, offset: 0 }, signal)).toHaveLength(2);
    expect(await store.get("a", signal)).toEqual(deadLetter("a"));
    await store.marks.mark(new Map([["a", { assignee: "alice" }]]), signal);
    expect(await store.get("a", signal)).toEqual({ ...deadLetter("a"), marks: { assignee: "alice" } });
  },
);

test("the largest item has room for the largest marks", async () => {
  await using store = await openDlq(dynamo, await makeTable(dynamo));
  const entry = deadLetter("a", { envelope: { payload: new Uint8Array(383 * 1_024).fill(1) } });
  await store.put(entry, signal);
  for (let i = 0; i < 25; i++) {
    const note = { at: i, by: "alice", text: "ö".repeat(1_000) };
    expect((await store.marks.mark(new Map([["a", { note, ...REDRIVEN }]]), signal)).size).toBe(1);
  }
  expect((await store.admin.trash.move(["a"], "batch", Date.now() + 60_000, signal)).size).toBe(1);
  expect(await store.admin.trash.restore("batch", 1, signal)).toEqual({ restored: 1, present: 0 });
  expect((await store.get("a", signal))?.envelope.payload.length).toBe(383 * 1_024);
});
