import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import { batchTime } from "@bridge/ports/internal";
import { isPossibleJobId, JOB_PREFIX } from "./dead-letter-item.ts";
import { jobIn } from "./dynamodb-jobs.ts";
import type { TableAccess } from "./table-access.ts";
import { batchIn, endIn, type Keys, keysOf } from "./trash-key.ts";

/** Whether an item holds an entry that is in the trash, in time. */
export async function isTrashed(item: Item | undefined, access: TableAccess, signal: AbortSignal): Promise<boolean> {
  if (item?.["trash_key"] === undefined) return false;
  const key = item["order_key"]?.S ?? "";
  return endIn(key) > access.serviceNow() || (await timeOf(batchIn(key), access, signal)) === "held";
}

/** Where what the batch has in time is; `undefined`: nothing is. Its job has the last word, as somebody may have changed the ends of entries. */
export async function keysInTime(batch: string, access: TableAccess, signal: AbortSignal): Promise<Keys | undefined> {
  const time = await timeOf(batch, access, signal);
  return time === "over" ? undefined : keysOf(batch, time === "held" ? undefined : access.serviceNow());
}

async function timeOf(batch: string, access: TableAccess, signal: AbortSignal): Promise<ReturnType<typeof batchTime>> {
  if (!isPossibleJobId(batch)) return undefined;
  const { client, tableName, serviceNow } = access;
  // The service charges for the whole item, whatever is asked of it.
  const key = { TableName: tableName, Key: { id: { S: `${JOB_PREFIX}${batch}` } }, ConsistentRead: true };
  const job = jobIn((await client.send(new GetItemCommand(key), signal)).Item);
  return job && batchTime(job, serviceNow());
}
