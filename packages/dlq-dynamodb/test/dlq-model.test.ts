import { dlqSteps } from "@bridge/conformance/dlq-steps";
import { openMemoryDlq } from "@bridge/dlq-memory";
import { type DynamoFault, testDynamo } from "@bridge/tooling/test-dynamodb";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());

const { signal } = new AbortController();

const fault = fc.constantFrom<(DynamoFault | undefined)[]>(
  undefined,
  undefined,
  undefined,
  "lose-answer",
  "cut",
  { error: "ProvisionedThroughputExceededException" },
  { error: "InternalServerError", status: 500 },
);

test("does what the store in memory does, through throttling and lost answers", async () => {
  await fc.assert(
    fc.asyncProperty(dlqSteps, fc.infiniteStream(fault), async (steps, faults) => {
      await using store = await openDlq(dynamo, await makeTable(dynamo));
      await using memory = openMemoryDlq({ maxEntries: 100 });
      dynamo.choose = () => faults.next().value;
      for (const take of steps) await take(store, memory);
      dynamo.reset();
      const all = { limit: 100, offset: 0 };
      expect(await store.list({}, all, signal)).toEqual(await memory.list({}, all, signal));
    }),
    { numRuns: 4 },
  );
});
