import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import { isPossibleJobId, JOB_PREFIX } from "./dead-letter-item.ts";
import type { TableAccess } from "./table-access.ts";
import { batchIn, endIn } from "./trash-key.ts";

/** Whether an item holds an entry that is in the trash, in time. */
export async function isTrashed(item: Item | undefined, access: TableAccess, signal: AbortSignal): Promise<boolean> {
  if (item?.["trash_key"] === undefined) return false;
  const key = item["order_key"]?.S ?? "";
  return endIn(key) > access.serviceNow() || (await isUndoing(batchIn(key), access, signal));
}

/** Entries of the batch that end after it are in time: all of them as long as its job takes them back. */
export async function startOf(batch: string, access: TableAccess, signal: AbortSignal): Promise<number> {
  return (await isUndoing(batch, access, signal)) ? 0 : access.serviceNow();
}

async function isUndoing(batch: string, { client, tableName }: TableAccess, signal: AbortSignal): Promise<boolean> {
  if (!isPossibleJobId(batch)) return false;
  const key = { TableName: tableName, Key: { id: { S: `${JOB_PREFIX}${batch}` } }, ConsistentRead: true };
  const { Item: job } = await client.send(
    new GetItemCommand({ ...key, ProjectionExpression: "order_key, head" }),
    signal,
  );
  return job?.["order_key"] !== undefined && job["head"]?.S === "undoing";
}
