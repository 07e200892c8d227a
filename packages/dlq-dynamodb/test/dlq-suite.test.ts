import {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { describeDlqParts, describeDlqStore, type DlqPartsSubject } from "@bridge/conformance";
import type { DlqStore } from "@bridge/ports";
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

async function rewritten(
  store: DlqStore,
  { id, attribute }: { readonly id: string; readonly attribute: string },
  change: (text: string) => string,
): Promise<DlqStore> {
  const client = new DynamoDBClient(dynamo.sdk);
  const key = { TableName: table, Key: { id: { S: id } } };
  const { Item } = await client.send(new GetItemCommand(key));
  const text = change(Item?.[attribute]?.S ?? "");
  await client.send(new PutItemCommand({ TableName: table, Item: { ...Item, [attribute]: { S: text } } }));
  client.destroy();
  return store;
}

async function renamed(store: DlqStore, id: string, to: string): Promise<DlqStore | undefined> {
  if (to === "") return undefined;
  const client = new DynamoDBClient(dynamo.sdk);
  const key = { TableName: table, Key: { id: { S: id } } };
  const { Attributes } = await client.send(new DeleteItemCommand({ ...key, ReturnValues: "ALL_OLD" }));
  await client.send(new PutItemCommand({ TableName: table, Item: { ...Attributes, id: { S: to } } }));
  client.destroy();
  return store;
}

/** An id is one item: another entry can have it in the trash only where what was written again keeps its place. */
async function renamedInTrash(store: DlqStore, id: string, to: string): Promise<DlqStore> {
  const client = new DynamoDBClient(dynamo.sdk);
  const key = { TableName: table, Key: { id: { S: id } } };
  const { Attributes: item } = await client.send(new DeleteItemCommand({ ...key, ReturnValues: "ALL_OLD" }));
  const aside = { S: `trash/${item?.["deleted_by"]?.S}/${to}` };
  await client.send(new PutItemCommand({ TableName: table, Item: { ...item, id: aside } }));
  client.destroy();
  return store;
}

async function movedEnds(store: DlqStore, batch: string, until: number): Promise<DlqStore> {
  const client = new DynamoDBClient(dynamo.sdk);
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table }));
  for (const item of Items.filter(({ order_key: key }) => key?.S?.startsWith(`${batch}/`) === true)) {
    const key = { S: `${batch}/${String(until).padStart(16, "0")}` };
    await client.send(new PutItemCommand({ TableName: table, Item: { ...item, order_key: key } }));
  }
  client.destroy();
  return store;
}

describeDlqStore("dynamodb", subject);
describeDlqParts("dynamodb", {
  ...subject,
  except: {
    "pages: an entry whose head says another route, or nothing, is found where it is told to be":
      "its index by category knows no route but that of the head: a query of the route finds it",
  },
  rewriteHead: (store, id, change) => rewritten(store, { id, attribute: "head" }, change),
  moveInTime: (store, id, failedAt) =>
    rewritten(store, { id, attribute: "order_key" }, () => `${String(failedAt).padStart(16, "0")}/${id}`),
  rename: renamed,
  renameInTrash: (store, { id }, to) => renamedInTrash(store, id, to),
  moveEnds: movedEnds,
  rewriteJob: (store, id, change) => rewritten(store, { id: `job/${id}`, attribute: "document" }, change),
  many: times(500, 10_000),
  courses: times(4, 60),
} satisfies DlqPartsSubject);
