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
  except: {
    "trash: an id that is in the trash can be written again, and then that entry stays":
      "an id is one item: what is written again takes the place of what was in the trash",
  },
} satisfies DlqPartsSubject);
