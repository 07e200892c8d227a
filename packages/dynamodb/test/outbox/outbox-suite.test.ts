import { describeOutboxStore } from "@bridge/conformance";
import { testDynamo, type TestDynamo } from "@bridge/tooling/test-dynamodb";
import { afterAll, beforeAll } from "vitest";
import { changeRecord, makeTable, openOn, tableOf } from "./support/outbox.ts";

let dynamo: TestDynamo;
beforeAll(async () => void (dynamo = await testDynamo()));
afterAll(() => dynamo[Symbol.asyncDispose]());

describeOutboxStore("dynamodb, two handles on one table", {
  open: async (options) => openOn(dynamo, await makeTable(dynamo), options),
  second: async (store, options) => openOn(dynamo, tableOf(store), options),
  spoil: async (store, id, how, options) => {
    await store[Symbol.asyncDispose]();
    const [change, value] =
      how === "changed"
        ? ["SET payload = :now", { B: Buffer.from("other") }]
        : ["SET envelope = :now", { S: "{garbage" }];
    await changeRecord(dynamo, tableOf(store), id, change, { ":now": value });
    return openOn(dynamo, tableOf(store), options);
  },
  reopen: async (store, options) => {
    // With a process its requests end; what the service has got of them it may do still.
    await store[Symbol.asyncDispose]();
    return openOn(dynamo, tableOf(store), options);
  },
  except: { "gives back a payload of 1 MB": "an item of DynamoDB has 400 KB; larger ones are refused" },
});
