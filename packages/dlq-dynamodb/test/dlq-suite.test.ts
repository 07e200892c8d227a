import { DynamoDBClient, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
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
  except: {
    "pages: an entry whose head says another route, or nothing, is found where it is told to be":
      "its index by category knows no route but that of the head: a query of the route finds it",
  },
  async rewriteHead(store, id, change) {
    const client = new DynamoDBClient(dynamo.sdk);
    const key = { TableName: table, Key: { id: { S: id } } };
    const { Item } = await client.send(new GetItemCommand(key));
    const head = change(Item?.["head"]?.S ?? "");
    await client.send(new PutItemCommand({ TableName: table, Item: { ...Item, head: { S: head } } }));
    client.destroy();
    return store;
  },
  many: times(500, 10_000),
  courses: times(4, 60),
} satisfies DlqPartsSubject);
