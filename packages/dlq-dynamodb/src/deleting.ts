import { GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { DynamoClient } from "@bridge/dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import type { Clock, Random } from "@bridge/ports";
import { isPossibleId } from "./dead-letter-item.ts";
import { atOrAfter } from "./order-key.ts";
import { PLACE } from "./parted-content.ts";
import type { Parts } from "./parts.ts";

/** Requests at once: enough to be quick, and half of the connections is left for messages. */
const AT_ONCE = 25;
/** How long it can be looked up who has deleted an entry: far longer than a call takes with all its tries. */
const MARK_MS = 3_600_000;
const NO_PARTS = "none";

export interface Deleting {
  readonly client: DynamoClient;
  readonly tableName: string;
  /** Entries that failed before are not there. */
  readonly visibleFrom: () => number;
  readonly parts: Parts;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Deletes the entries of these ids, a few at a time, and returns those that this call has deleted. Each takes a request
 * of its own: the service does not say of a batch which were there. When one fails, those before it are gone.
 */
export async function deleteIds(
  ids: Iterable<string>,
  deleting: Deleting,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  signal.throwIfAborted();
  const gone = new Set<string>();
  const left = [...new Set(ids)].filter(isPossibleId);
  for (let start = 0; start < left.length; start += AT_ONCE) {
    const results = await Promise.allSettled(
      left.slice(start, start + AT_ONCE).map(async (id) => {
        if (await deleteId(id, deleting, signal)) gone.add(id);
      }),
    );
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
  return gone;
}

/** Deletes the oldest of these entries, until `limit` are deleted. Returns how many. */
export async function deleteOldest(
  entries: AsyncIterable<Item>,
  limit: number,
  deleting: Deleting,
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
    deleted += (await deleteIds(ids, deleting, signal)).size;
    ids = [];
    if (deleted === limit) return deleted;
  }
  return deleted + (await deleteIds(ids, deleting, signal)).size;
}

/**
 * Takes everything out of the item and leaves a mark, which the service removes. Without it nobody could tell, once the
 * answer is lost, whether this call has deleted the entry or another one; with it one of all callers knows that it was.
 */
async function deleteId(id: string, deleting: Deleting, signal: AbortSignal): Promise<boolean> {
  const { client, tableName, visibleFrom, parts, clock, random } = deleting;
  const mark = random.id();
  const expiry = Math.ceil((clock.now() + MARK_MS) / 1_000);
  const command = new UpdateItemCommand({
    TableName: tableName,
    Key: { id: { S: id } },
    // What is set comes back, and what is removed does not: so where the parts are is set to what it is.
    UpdateExpression: `SET deleted_by = :mark, expires_at = :expiry, ${PLACE} = if_not_exists(${PLACE}, :none) REMOVE order_key, category_shard, route_shard, head, envelope, payload`,
    ReturnValues: "UPDATED_NEW",
    ConditionExpression: "order_key >= :from",
    ExpressionAttributeValues: {
      ":mark": { S: mark },
      ":expiry": { N: String(expiry) },
      ":from": { S: atOrAfter(visibleFrom()) },
      ":none": { S: NO_PARTS },
    },
  });
  const result = await client.sendIf(command, signal);
  if (!result.made && !result.unsure) return false;
  const left = result.made ? result.output.Attributes : await markOf(id, deleting, signal);
  if (left?.["deleted_by"]?.S !== mark) return false;
  const place = left[PLACE]?.S ?? NO_PARTS;
  if (place !== NO_PARTS) await parts.forget(id, place, signal);
  return true;
}

async function markOf(id: string, { client, tableName }: Deleting, signal: AbortSignal): Promise<Item | undefined> {
  const key = { TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true };
  const marks = { ...key, ProjectionExpression: `deleted_by, ${PLACE}` };
  return (await client.send(new GetItemCommand(marks), signal)).Item;
}
