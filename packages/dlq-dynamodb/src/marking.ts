import { GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import { type DeadLetterMarks, type MarkChange, marked, mergedMarks } from "@bridge/ports";
import { marksIn, packMarks } from "@bridge/ports/internal";
import { IS_ENTRY, isEntry } from "./dead-letter-item.ts";
import { eachOf } from "./each-of.ts";
import { atOrAfter } from "./order-key.ts";
import type { TableAccess } from "./table-access.ts";

/** Writers whose marks an item remembers: more than write between the loss of an answer and the look whether it was made. */
const REMEMBERED = 32;

/** Changes the marks of entries, a few at a time, and returns those that were there. When one fails, those before it are marked. */
export function markEach(
  changes: ReadonlyMap<string, MarkChange>,
  access: TableAccess,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const markOne = (id: string) => remark(id, (marks) => marked(marks, changes.get(id) ?? {}), access, signal);
  return eachOf(changes.keys(), markOne, signal);
}

/** Adds those of an entry with the same id. False when it is not there. */
export function mergeMarks(
  id: string,
  back: DeadLetterMarks | undefined,
  access: TableAccess,
  signal: AbortSignal,
): Promise<boolean> {
  return remark(id, (marks) => mergedMarks(marks, back), access, signal);
}

/**
 * What somebody else has changed between reading and writing is read again. The item has the tokens of the last writers, so that it
 * is known of a write whose answer was lost whether it was made.
 */
async function remark(
  id: string,
  change: (marks: DeadLetterMarks | undefined) => DeadLetterMarks | undefined,
  access: TableAccess,
  signal: AbortSignal,
): Promise<boolean> {
  const { client, tableName, visibleFrom, random } = access;
  for (;;) {
    const item = await read(id, access, signal);
    if (!isEntry(item, visibleFrom())) return false;
    const token = random.id();
    const before = item["marked_by"]?.S;
    const marks = packMarks(change(marksIn(item["marks"]?.S)));
    const command = new UpdateItemCommand({
      TableName: tableName,
      Key: { id: { S: id } },
      UpdateExpression: `SET marked_by = :writers${marks === null ? " REMOVE marks" : ", marks = :marks"}`,
      ConditionExpression: `${IS_ENTRY} AND ${before === undefined ? "NOT attribute_type(marked_by, :text)" : "marked_by = :before"}`,
      ExpressionAttributeValues: {
        ":writers": { S: [token, ...writersOf(item)].slice(0, REMEMBERED).join(" ") },
        ":from": { S: atOrAfter(visibleFrom()) },
        ...(marks !== null && { ":marks": { S: marks } }),
        // What is no text there nobody has written, and it says nothing.
        ...(before === undefined ? { ":text": { S: "S" } } : { ":before": { S: before } }),
      },
    });
    const result = await client.sendIf(command, signal);
    if (result.made) return true;
    if (result.unsure && writersOf(await read(id, access, signal)).includes(token)) return true;
  }
}

async function read(id: string, { client, tableName }: TableAccess, signal: AbortSignal): Promise<Item | undefined> {
  const key = { TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true };
  const marks = { ...key, ProjectionExpression: "order_key, route_shard, marks, marked_by" };
  return (await client.send(new GetItemCommand(marks), signal)).Item;
}

function writersOf(item: Item | undefined): readonly string[] {
  return item?.["marked_by"]?.S?.split(" ") ?? [];
}
