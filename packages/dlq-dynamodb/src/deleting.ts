import { GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import { AT_ONCE, eachOf } from "./each-of.ts";
import { ASIDES, IS_ENTRY } from "./dead-letter-item.ts";
import { atOrAfter } from "./order-key.ts";
import { NO_PARTS, partsOf, PLACE } from "./parted-content.ts";
import type { TableAccess } from "./table-access.ts";

/** How long it can be looked up who has deleted an entry: far longer than a call takes with all its tries. */
export const NOTE_MS = 3_600_000;

/**
 * Deletes the entries of these ids, a few at a time, and returns those that this call has deleted. Each takes a request
 * of its own: the service does not say of a batch which were there. When one fails, those before it are gone.
 */
export function deleteIds(
  ids: Iterable<string>,
  access: TableAccess,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  return eachOf(ids, (id) => deleteId(id, access, signal), signal);
}

/** Deletes the oldest of these entries, until `limit` are deleted. Returns how many. */
export async function deleteOldest(
  entries: AsyncIterable<Item>,
  limit: number,
  access: TableAccess,
  signal: AbortSignal,
): Promise<number> {
  signal.throwIfAborted();
  let deleted = 0;
  let ids: string[] = [];
  if (limit === 0) return 0;
  for await (const { id } of entries) {
    ids.push(id?.S ?? "");
    // Somebody else may delete some of them, so the limit may need further ones.
    if (ids.length < Math.min(AT_ONCE, limit - deleted)) continue;
    deleted += (await deleteIds(ids, access, signal)).size;
    ids = [];
    if (deleted === limit) return deleted;
  }
  return deleted + (await deleteIds(ids, access, signal)).size;
}

async function deleteId(id: string, access: TableAccess, signal: AbortSignal): Promise<boolean> {
  return (await takeEntry(id, access, signal)) !== undefined;
}

/**
 * Takes everything out of the item and leaves a token, which the service removes. Without it nobody could tell, once the
 * answer is lost, whether this call has deleted the entry or another one; with it one of all callers knows that it was. Returns what the
 * item tells then, and `undefined` when it was another one, or none.
 */
export async function takeEntry(id: string, access: TableAccess, signal: AbortSignal): Promise<Item | undefined> {
  const { client, tableName, visibleFrom, parts, clock, random } = access;
  const token = random.id();
  const expiry = Math.ceil((clock.now() + NOTE_MS) / 1_000);
  const command = new UpdateItemCommand({
    TableName: tableName,
    Key: { id: { S: id } },
    // What is set comes back, and what is removed does not: so where the parts are, and what is aside, is set to what it is.
    UpdateExpression: `SET deleted_by = :token, expires_at = :expiry, ${PLACE} = if_not_exists(${PLACE}, :none), ${ASIDES} = if_not_exists(${ASIDES}, :none) REMOVE order_key, category_shard, route_shard, head, envelope, payload, marks, marked_by`,
    ReturnValues: "UPDATED_NEW",
    ConditionExpression: IS_ENTRY,
    ExpressionAttributeValues: {
      ":token": { S: token },
      ":expiry": { N: String(expiry) },
      ":from": { S: atOrAfter(visibleFrom()) },
      ":none": { S: NO_PARTS },
    },
  });
  const result = await client.sendIf(command, signal);
  if (!result.made && !result.unsure) return undefined;
  const left = result.made ? result.output.Attributes : await leavingOf(id, access, signal);
  if (left?.["deleted_by"]?.S !== token) return undefined;
  const place = partsOf(left);
  if (place !== undefined) await parts.forget(id, place, signal);
  return left;
}

/** What an item tells of who has deleted or moved its entry last. */
export async function leavingOf(
  id: string,
  { client, tableName }: TableAccess,
  signal: AbortSignal,
): Promise<Item | undefined> {
  const key = { TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true };
  const fields = { ...key, ProjectionExpression: `deleted_by, ${PLACE}, ${ASIDES}` };
  return (await client.send(new GetItemCommand(fields), signal)).Item;
}
