import { createHash } from "node:crypto";
import { type AttributeValue, GetItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import { ASIDE_PREFIX, ASIDES, expiry } from "./dead-letter-item.ts";
import { NOTE_MS } from "./deleting.ts";
import { isTrashed } from "./in-time.ts";
import { NO_PARTS } from "./parted-content.ts";
import type { TableAccess } from "./table-access.ts";

/** Whether an item with this key is an entry of the trash whose own item has been given to another one. */
export function isAside(key: string): boolean {
  return key.startsWith(ASIDE_PREFIX);
}

/** The id of the entry that is in it. */
export function entryIdOf(key: string): string {
  return key.slice(key.indexOf("/", ASIDE_PREFIX.length) + 1);
}

/** The id under which the entry comes back where its own is another entry's: each time the same, so that it does so once. */
export function otherIdOf(key: string): string {
  return `spoiled-${createHash("sha256").update(key).digest("hex").slice(0, 16)}`;
}

/** Further ones of one id, within the time that they can be taken back, are found by nobody who has only the id. */
const MAX_ASIDES = 32;

/** What the item that takes the place of `there` tells of what is aside then. */
export function asidesWith(there: Item | undefined): Item {
  const moved = there?.["trash_key"] === undefined ? undefined : there["deleted_by"]?.S;
  const tokens = [...(moved === undefined ? [] : [moved]), ...tokensIn(there?.[ASIDES])];
  return tokens.length === 0 ? {} : { [ASIDES]: { S: tokens.slice(0, MAX_ASIDES).join(" ") } };
}

/** The keys of what is aside under an id, as its item tells. */
export function asideKeys(id: string, asides: AttributeValue | undefined): readonly string[] {
  return tokensIn(asides).map((token) => asideKey(id, token));
}

function tokensIn(asides: AttributeValue | undefined): readonly string[] {
  const text = asides?.S ?? NO_PARTS;
  return text === NO_PARTS ? [] : text.split(" ");
}

function asideKey(id: string, token: string): string {
  return `${ASIDE_PREFIX}${token}/${id}`;
}

/**
 * An id is one item: before it is written again, what the item holds in the trash is copied to one of its own. Its key is of the move that
 * brought it there, so that who is killed between copy and write leaves nothing that the next one would make twice.
 */
export async function keepAside(item: Item, access: TableAccess, signal: AbortSignal): Promise<void> {
  const { client, tableName } = access;
  if (!(await isTrashed(item, access, signal))) return;
  const id = { S: asideKey(item["id"]?.S ?? "", item["deleted_by"]?.S ?? "") };
  const copy = { TableName: tableName, Item: { ...item, id }, ConditionExpression: "attribute_not_exists(id)" };
  await client.sendIf(new PutItemCommand(copy), signal);
}

/** Takes the copy out of the trash. Of callers that race, one is told that it did. */
export async function dropAside(
  { id, order_key: order }: Item,
  { client, tableName, clock, random }: TableAccess,
  signal: AbortSignal,
): Promise<boolean> {
  const place = { TableName: tableName, Key: { id: id ?? { S: "" } } };
  const token = random.id();
  const command = new UpdateItemCommand({
    ...place,
    UpdateExpression:
      "SET dropped_by = :token, expires_at = :expiry REMOVE order_key, category_shard, trash_key, trash_category, trash_route, head, envelope, payload, marks, marked_by",
    ConditionExpression: "attribute_exists(trash_key) AND order_key = :order",
    ExpressionAttributeValues: {
      ":token": { S: token },
      ":expiry": expiry(clock.now() + NOTE_MS)["expires_at"] ?? { N: "0" },
      ":order": order ?? { S: "" },
    },
  });
  const result = await client.sendIf(command, signal);
  if (result.made || !result.unsure) return result.made;
  const read = new GetItemCommand({ ...place, ConsistentRead: true, ProjectionExpression: "dropped_by" });
  return (await client.send(read, signal)).Item?.["dropped_by"]?.S === token;
}
