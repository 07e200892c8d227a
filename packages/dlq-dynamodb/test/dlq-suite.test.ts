import { describeDlqStore } from "@bridge/conformance";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll } from "vitest";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());

let table = "";

describeDlqStore("dynamodb", {
  async open() {
    table = await makeTable(dynamo);
    return openDlq(dynamo, table);
  },
  reopen: () => openDlq(dynamo, table),
  second: () => openDlq(dynamo, table),
});
