import { describeDlqParts, describeDlqStore, type DlqPartsSubject } from "@bridge/conformance";
import { times } from "@bridge/tooling/long";
import { testDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll } from "vitest";
import { makeTable, openDlq } from "./support/dlq-tables.ts";

const dynamo = await testDynamo();
afterAll(() => dynamo[Symbol.asyncDispose]());

let table = "";

const subject = {
  async open() {
    table = await makeTable(dynamo);
    return openDlq(dynamo, table);
  },
  reopen: () => openDlq(dynamo, table),
  second: () => openDlq(dynamo, table),
};

describeDlqStore("dynamodb", subject);
describeDlqParts("dynamodb", {
  ...subject,
  many: times(500, 10_000),
  courses: times(4, 60),
} satisfies DlqPartsSubject);
