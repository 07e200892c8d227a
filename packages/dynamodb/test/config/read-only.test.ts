import { createTable } from "../../src/client/create-table.ts";
import { openTable } from "../../src/client/open-table.ts";
import { configTable } from "../../src/config/config-table.ts";
import { clientOf, optionsOf } from "../client/support/notes.ts";
import { systemClock } from "@bridge/ports";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { expect, test } from "vitest";

test("the table of a configuration that may only be read is well again after a fault, and nothing tries to write it", async ({
  signal,
}) => {
  await using dynamo = await testDynamo();
  const table = configTable("read-only");
  await using maker = clientOf(dynamo);
  await createTable(table, maker, systemClock, signal);
  dynamo.inject("DescribeTable", { error: "AccessDeniedException" });
  await using client = await openTable(table, optionsOf(dynamo), signal);
  expect(client.health().fault).toContain("AccessDeniedException");
  dynamo.choose = (operation) => (operation === "PutItem" ? { error: "AccessDeniedException" } : undefined);
  await client.prove();
  expect(client.health().fault).toBeUndefined();
  expect(dynamo.operations).not.toContain("PutItem");
});
