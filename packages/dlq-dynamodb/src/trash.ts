import { GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import type { DlqTrash } from "@bridge/ports";
import { expiry, IS_ENTRY } from "./dead-letter-item.ts";
import { leavingOf } from "./deleting.ts";
import { AT_ONCE, eachOf } from "./each-of.ts";
import { END, type EntryIndex } from "./entry-index.ts";
import { atOrAfter, timeIn } from "./order-key.ts";
import { NO_PARTS, partsOf, PLACE } from "./parted-content.ts";
import { trashShard } from "./partitions.ts";
import type { TableAccess } from "./table-access.ts";

/**
 * Entries that were deleted and can be taken back: their items are in no partition of an index that lists entries, and the service
 * removes them when their time is over. Where they were stands in the items.
 */
export class Trash implements DlqTrash {
  readonly #index: EntryIndex;
  readonly #access: TableAccess;
  readonly #retentionMs: number | undefined;

  constructor(index: EntryIndex, access: TableAccess, retentionMs: number | undefined) {
    this.#index = index;
    this.#access = access;
    this.#retentionMs = retentionMs;
  }

  move(ids: readonly string[], batch: string, until: number, signal: AbortSignal): Promise<ReadonlySet<string>> {
    return eachOf(ids, (id) => this.#move(id, trashKey(batch, until), until, signal), signal);
  }

  async restore(batch: string, limit: number, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    const now = this.#access.clock.now();
    let restored = 0;
    let items: Item[] = [];
    const restoreAll = async (): Promise<void> => {
      const keys = new Map(items.map(({ id, order_key: key }) => [id?.S ?? "", key?.S ?? ""]));
      items = [];
      restored += (await eachOf(keys.keys(), (id) => this.#restore(id, keys.get(id) ?? "", signal), signal)).size;
    };
    if (limit === 0) return 0;
    for await (const item of this.#index.trash(keysOf(batch, now), limit, signal)) {
      items.push(item);
      // Somebody else may bring some of them back, so the limit may need further ones.
      if (items.length < Math.min(AT_ONCE, limit - restored)) continue;
      await restoreAll();
      if (restored === limit) return restored;
    }
    await restoreAll();
    return restored;
  }

  async count(cap: number, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    const now = this.#access.clock.now();
    let count = 0;
    if (cap === 0) return 0;
    for await (const { order_key: key } of this.#index.trash({ from: " ", to: END }, cap, signal)) {
      if (endIn(key?.S ?? "") > now && ++count === cap) break;
    }
    return count;
  }

  async #move(id: string, key: string, until: number, signal: AbortSignal): Promise<boolean> {
    const { client, tableName, visibleFrom, parts, random } = this.#access;
    const token = random.id();
    const command = new UpdateItemCommand({
      TableName: tableName,
      Key: { id: { S: id } },
      // What is set comes back, and what is not does not: so where the parts are is set to what it is.
      UpdateExpression: `SET deleted_by = :token, expires_at = :expiry, trash_key = order_key, trash_category = category_shard, trash_route = route_shard, order_key = :key, category_shard = :trash, ${PLACE} = if_not_exists(${PLACE}, :none) REMOVE route_shard, restored_by`,
      ReturnValues: "UPDATED_NEW",
      ConditionExpression: IS_ENTRY,
      ExpressionAttributeValues: {
        ":token": { S: token },
        ":expiry": { N: String(Math.ceil(until / 1_000)) },
        ":key": { S: key },
        ":trash": { S: trashShard(id) },
        ":from": { S: atOrAfter(visibleFrom()) },
        ":none": { S: NO_PARTS },
      },
    });
    const result = await client.sendIf(command, signal);
    if (!result.made && !result.unsure) return false;
    const left = result.made ? result.output.Attributes : await leavingOf(id, this.#access, signal);
    if (left?.["deleted_by"]?.S !== token) return false;
    const place = partsOf(left);
    if (place !== undefined) await parts.forget(id, place, signal, until);
    return true;
  }

  async #restore(id: string, key: string, signal: AbortSignal): Promise<boolean> {
    const { client, tableName, parts, random } = this.#access;
    const item = await this.#read(id, signal);
    const { trash_key: order, trash_category: category, trash_route: route } = item ?? {};
    if (item?.["order_key"]?.S !== key || order === undefined || category === undefined || route === undefined)
      return false;
    const place = partsOf(item);
    const expiresAt = this.#retentionMs === undefined ? undefined : timeIn(order.S ?? "") + this.#retentionMs;
    const { expires_at: at } = expiry(expiresAt);
    // First: an entry is not there before its parts are for good.
    if (place !== undefined) await parts.keep(id, place, expiresAt, signal);
    const token = random.id();
    const command = new UpdateItemCommand({
      TableName: tableName,
      Key: { id: { S: id } },
      UpdateExpression: `SET restored_by = :token, order_key = :order, category_shard = :category, route_shard = :route${at === undefined ? "" : ", expires_at = :at"} REMOVE trash_key, trash_category, trash_route, deleted_by${at === undefined ? ", expires_at" : ""}`,
      ConditionExpression: "category_shard = :trash AND order_key = :key",
      ExpressionAttributeValues: {
        ":token": { S: token },
        ":order": order,
        ":category": category,
        ":route": route,
        ":trash": { S: trashShard(id) },
        ":key": { S: key },
        ...(at !== undefined && { ":at": at }),
      },
    });
    const result = await client.sendIf(command, signal);
    if (result.made || !result.unsure) return result.made;
    return (await this.#read(id, signal))?.["restored_by"]?.S === token;
  }

  async #read(id: string, signal: AbortSignal): Promise<Item | undefined> {
    const { client, tableName } = this.#access;
    const key = { TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true };
    const fields = `order_key, trash_key, trash_category, trash_route, restored_by, ${PLACE}`;
    return (await client.send(new GetItemCommand({ ...key, ProjectionExpression: fields }), signal)).Item;
  }
}

/** Those of a batch are together, and by the end of their time. */
function trashKey(batch: string, until: number): string {
  return `${nameOf(batch)}/${atOrAfter(until)}`;
}

/** Those of a batch that are in time. */
function keysOf(batch: string, now: number): { readonly from: string; readonly to: string } {
  return { from: trashKey(batch, now + 1), to: `${nameOf(batch)}0` };
}

function endIn(key: string): number {
  return timeIn(key.slice(key.indexOf("/") + 1));
}

function nameOf(batch: string): string {
  return encodeURIComponent(batch.toWellFormed());
}
