import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, expect, test } from "vitest";
import { deadLetter } from "./support/dead-letter.ts";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());

test("a DLQ that may put entries and not delete them says so until it may, however often it looks", async ({
  signal,
}) => {
  await using store = await openDlq(dynamo, await makeTable(dynamo));
  await store.put(deadLetter("a"), signal);
  dynamo.choose = (operation) => (operation === "UpdateItem" ? { error: "AccessDeniedException" } : undefined);
  await expect(store.admin.delete(["a"], signal)).rejects.toMatchObject({ code: "NOT_AUTHORIZED" });
  for (let looks = 0; looks < 3; looks++) {
    await store.prove?.();
    expect(store.health?.().fault).toContain("AccessDeniedException");
  }
  dynamo.reset();
  await store.prove?.();
  expect(store.health?.().fault).toBeUndefined();
  expect(await store.admin.delete(["a"], signal)).toEqual(new Set(["a"]));
});
