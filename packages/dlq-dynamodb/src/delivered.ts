import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import { asideKeys, dropAside } from "./aside.ts";
import { ASIDES, isEntry, isEntryOf } from "./dead-letter-item.ts";
import { takeEntry } from "./deleting.ts";
import { eachOf } from "./each-of.ts";
import { partsOf, PLACE } from "./parted-content.ts";
import type { TableAccess } from "./table-access.ts";

/**
 * Deletes entries whose messages are delivered, a few at a time, with what the trash has of them: in their items, and aside. Another entry
 * that somebody has given such an id stays there. Returns the ids that were there.
 */
export function deleteDelivered(
  ids: Iterable<string>,
  access: TableAccess,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  return eachOf(ids, (id) => deleteOne(id, access, signal), signal);
}

async function deleteOne(id: string, access: TableAccess, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const left = await takeEntry(id, access, signal);
    if (left !== undefined) {
      await dropAsides(id, left, access, signal);
      return true;
    }
    const there = await read(id, access, signal);
    // It has come back meanwhile.
    if (isEntry(there, access.visibleFrom())) continue;
    const isKept = there?.["trash_key"] === undefined || !isEntryOf(id, there);
    if (isKept || (await drop(id, there, access, signal))) {
      await dropAsides(id, there, access, signal);
      return false;
    }
  }
}

async function dropAsides(id: string, item: Item | undefined, access: TableAccess, signal: AbortSignal): Promise<void> {
  for (const key of asideKeys(id, item?.[ASIDES])) {
    const aside = await read(key, access, signal);
    if (aside?.["trash_key"] !== undefined && isEntryOf(id, aside)) await drop(id, aside, access, signal);
  }
}

/** False when it is not as it was read any more. */
async function drop(id: string, item: Item, access: TableAccess, signal: AbortSignal): Promise<boolean> {
  if (!(await dropAside(item, access, signal))) return false;
  const place = partsOf(item);
  if (place !== undefined) await access.parts.forget(id, place, signal);
  return true;
}

async function read(id: string, { client, tableName }: TableAccess, signal: AbortSignal): Promise<Item | undefined> {
  const key = { TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true };
  const fields = { ...key, ProjectionExpression: `id, order_key, route_shard, trash_key, head, ${PLACE}, ${ASIDES}` };
  return (await client.send(new GetItemCommand(fields), signal)).Item;
}
