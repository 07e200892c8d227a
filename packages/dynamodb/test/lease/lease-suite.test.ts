import { describeLeaseStore } from "@bridge/conformance";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll } from "vitest";
import { makeTable, openLeases } from "./support/lease-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());

let table = "";

describeLeaseStore("dynamodb", {
  async open() {
    table = await makeTable(dynamo);
    return openLeases(dynamo, table);
  },
  reopen: () => openLeases(dynamo, table),
  second: () => openLeases(dynamo, table),
});
