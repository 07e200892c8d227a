import { type AttributeValue, GetItemCommand, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import { idIn, marksIn } from "@bridge/ports/internal";
import { asidesWith, dropAside, entryIdOf, isAside, keepAside, otherIdOf } from "./aside.ts";
import { expiry, isEntry, isEntryOf } from "./dead-letter-item.ts";
import { isTrashed } from "./in-time.ts";
import { mergeMarks } from "./marking.ts";
import { atOrAfter, orderKey, timeIn } from "./order-key.ts";
import { NO_PARTS, partsOf, PLACE } from "./parted-content.ts";
import { trashShard } from "./partitions.ts";
import { replacing } from "./put-item.ts";
import type { TableAccess } from "./table-access.ts";
import { isSameBatch } from "./trash-key.ts";

/** What has become of an entry of the trash; `undefined`: nothing by this call. */
export type Told = "restored" | "present" | undefined;

/** Takes single entries back out of the trash. `restored_from` of an item tells what it has been restored from, for those who come later. */
export class TakingBack {
  readonly #access: TableAccess;
  readonly #retentionMs: number | undefined;

  constructor(access: TableAccess, retentionMs: number | undefined) {
    this.#access = access;
    this.#retentionMs = retentionMs;
  }

  /** What the index of the trash shows with this key and order. */
  async one(key: string, order: string, signal: AbortSignal): Promise<Told> {
    if (isAside(key)) return this.#aside(key, order, signal);
    return (await this.#own(key, order, signal)) ? "restored" : undefined;
  }

  /** An entry that is in its own item: that becomes what it was. */
  async #own(id: string, key: string, signal: AbortSignal): Promise<boolean> {
    const { client, tableName, parts, random } = this.#access;
    const item = await this.#read(id, signal);
    const { trash_key: order, trash_category: category, trash_route: route } = item ?? {};
    if (item?.["order_key"]?.S !== key || order === undefined || category === undefined || route === undefined)
      return false;
    if (this.#isOver(order)) return false;
    const place = partsOf(item);
    const expiresAt = this.#expiresAt(order.S);
    const { expires_at: at } = expiry(expiresAt);
    // First: an entry is not there before its parts are for good.
    if (place !== undefined) await parts.keep(id, place, expiresAt, signal);
    const token = random.id();
    const command = new UpdateItemCommand({
      TableName: tableName,
      Key: { id: { S: id } },
      UpdateExpression: `SET restored_by = :token, restored_from = deleted_by, order_key = :order, category_shard = :category, route_shard = :route${at === undefined ? "" : ", expires_at = :at"} REMOVE trash_key, trash_category, trash_route, deleted_by${at === undefined ? ", expires_at" : ""}`,
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

  /** An entry whose own item was given to another one of its id. It goes when what it has is elsewhere, so that it is never nowhere. */
  async #aside(key: string, order: string, signal: AbortSignal): Promise<Told> {
    const aside = await this.#read(key, signal);
    if (aside?.["trash_key"] === undefined || aside["order_key"]?.S !== order) return undefined;
    if (this.#isOver(aside["trash_key"])) return undefined;
    let id = entryIdOf(key);
    const drop = async (told: Told): Promise<Told> =>
      (await dropAside(aside, this.#access, signal)) ? told : undefined;
    for (;;) {
      const there = await this.#read(id, signal);
      const from = there?.["restored_from"]?.S;
      if (from === key) return drop("restored");
      // Who copied it was killed before anything took its place: it has come back from there.
      if (from !== undefined && from === aside["deleted_by"]?.S) return drop(undefined);
      const isThere: boolean = isEntry(there, this.#access.visibleFrom());
      if (isThere && id === entryIdOf(key) && !(isEntryOf(id, aside) && isEntryOf(id, there ?? {}))) {
        // Somebody has changed the id of either: neither is the newer truth of the other.
        id = otherIdOf(key);
        continue;
      }
      if (isThere) {
        if (await mergeMarks(id, marksIn(aside["marks"]?.S), this.#access, signal)) return drop("present");
        continue;
      }
      // The later entry of a batch comes first; this one adds its marks at the next look.
      const its = there?.["order_key"]?.S ?? "";
      if (isSameBatch(its, order) && (await isTrashed(there, this.#access, signal)))
        return (await this.#own(id, its, signal)) ? "restored" : undefined;
      if (there !== undefined) await keepAside(there, this.#access, signal);
      await this.#write(id, aside, there, signal);
    }
  }

  /** Unless the item has changed since it was read. */
  async #write(id: string, aside: Item, there: Item | undefined, signal: AbortSignal): Promise<void> {
    const { client, tableName, parts, visibleFrom } = this.#access;
    const { id: from, trash_key: order, trash_category: category, trash_route: route, ...rest } = aside;
    const { head, envelope, payload, marks, marked_by } = rest;
    const expiresAt = this.#expiresAt(order?.S);
    const place = partsOf(aside);
    if (place !== undefined) await parts.keep(idIn(head?.S ?? "") ?? id, place, expiresAt, signal);
    const at = id === entryIdOf(from?.S ?? "") ? order : { S: orderKey(timeIn(order?.S ?? ""), id) };
    const kept = { head, envelope, payload, marks, marked_by, order_key: at, category_shard: category };
    const item = { ...kept, route_shard: route, restored_from: from, ...expiry(expiresAt) };
    const written = Object.entries(item).filter(
      (each): each is [string, NonNullable<(typeof each)[1]>] => each[1] !== undefined,
    );
    const replaced = there?.["trash_key"] === undefined ? undefined : there["deleted_by"];
    const command = new PutItemCommand({
      TableName: tableName,
      Item: { ...Object.fromEntries(written), ...asidesWith(there), id: { S: id }, [PLACE]: { S: place ?? NO_PARTS } },
      ConditionExpression: replacing(replaced),
      ExpressionAttributeValues: {
        ":from": { S: atOrAfter(visibleFrom()) },
        ...(replaced !== undefined && { ":replaced": replaced }),
      },
    });
    await client.sendIf(command, signal);
  }

  /** Whether its retention is over: nobody would see it. */
  #isOver(order: AttributeValue): boolean {
    return timeIn(order.S ?? "") < this.#access.visibleFrom();
  }

  #expiresAt(order: string | undefined): number | undefined {
    return this.#retentionMs === undefined ? undefined : timeIn(order ?? "") + this.#retentionMs;
  }

  async #read(id: string, signal: AbortSignal): Promise<Item | undefined> {
    const { client, tableName } = this.#access;
    const key = { TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true };
    return (await client.send(new GetItemCommand(key), signal)).Item;
  }
}
