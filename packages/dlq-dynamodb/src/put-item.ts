import { type AttributeValue, GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import { asidesWith, keepAside } from "./aside.ts";
import { NOT_THERE } from "./dead-letter-item.ts";
import { atOrAfter } from "./order-key.ts";
import type { TableAccess } from "./table-access.ts";

/**
 * Writes the item of an entry, unless one of its id is there: then it is false. What is in the trash under its id is kept aside first, and
 * replaced only as long as it is what was kept.
 */
export async function putItem(id: string, item: Item, access: TableAccess, signal: AbortSignal): Promise<boolean> {
  const { client, tableName, visibleFrom } = access;
  let asides: Item = {};
  for (let replaced: AttributeValue | undefined; ;) {
    const command = new PutItemCommand({
      TableName: tableName,
      Item: { ...item, ...asides },
      ConditionExpression: replacing(replaced),
      ExpressionAttributeValues: {
        ":from": { S: atOrAfter(visibleFrom()) },
        ...(replaced && { ":replaced": replaced }),
      },
    });
    if ((await client.sendIf(command, signal)).made) return true;
    const read = new GetItemCommand({ TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true });
    const there = (await client.send(read, signal)).Item;
    if (there?.["trash_key"] === undefined) return false;
    await keepAside(there, access, signal);
    replaced = there["deleted_by"];
    asides = asidesWith(there);
  }
}

/** The condition that no entry is there; in the trash may be the one that `:replaced` has moved there. */
export function replacing(replaced: AttributeValue | undefined): string {
  return replaced === undefined
    ? NOT_THERE
    : `${NOT_THERE} OR (attribute_exists(trash_key) AND deleted_by = :replaced)`;
}
