import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTable } from "../../src/client/open-table.ts";
import { outboxTable } from "../../src/outbox/outbox-table.ts";
import { optionsOf } from "../client/support/notes.ts";
import { makeTable, openOn } from "./support/outbox.ts";
import { claimAll, done, recordOf } from "./support/records.ts";

const DENIED = "AccessDeniedException";
let dynamo: TestDynamo;
beforeAll(async () => void (dynamo = await testDynamo()));
afterAll(() => dynamo[Symbol.asyncDispose]());

test("an outbox that may put records and not end them says so until it may, however often it looks", async ({
  signal,
}) => {
  await using store = await openOn(dynamo, await makeTable(dynamo));
  await store.persist([recordOf("1")], signal);
  const claims = await claimAll(store, signal);
  dynamo.choose = (operation) => (operation === "UpdateItem" ? { error: DENIED } : undefined);
  await expect(store.finish(claims.map(done), signal)).rejects.toMatchObject({ code: "NOT_AUTHORIZED" });
  for (let looks = 0; looks < 3; looks++) {
    await store.prove?.();
    expect(store.health?.().fault).toContain(DENIED);
  }
  dynamo.reset();
  await store.prove?.();
  expect(store.health?.().fault).toBeUndefined();
  expect(await store.finish(claims.map(done), signal)).toEqual([true]);
});

test.each(["PutItem", "UpdateItem", "DeleteItem"])(
  "a table of an outbox that is faulty is not well while %s is denied",
  async (denied) => {
    const table = outboxTable(await makeTable(dynamo));
    dynamo.inject("DescribeTable", { error: DENIED });
    await using client = await openTable(table, optionsOf(dynamo), AbortSignal.timeout(60_000));
    dynamo.choose = (operation) => (operation === denied ? { error: DENIED } : undefined);
    await client.prove();
    expect(client.health().fault).toContain(`${denied} on table`);
    dynamo.reset();
    await client.prove();
    expect(client.health().fault).toBeUndefined();
  },
);
