import { UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { DlqTrash, TakenBack } from "@bridge/ports";
import { expiry, IS_ENTRY } from "./dead-letter-item.ts";
import { leavingOf } from "./deleting.ts";
import { AT_ONCE, eachOf } from "./each-of.ts";
import { END, type EntryIndex } from "./entry-index.ts";
import { keysInTime } from "./in-time.ts";
import { atOrAfter } from "./order-key.ts";
import { NO_PARTS, partsOf, PLACE } from "./parted-content.ts";
import { trashShard } from "./partitions.ts";
import type { TableAccess } from "./table-access.ts";
import { TakingBack } from "./taking-back.ts";
import { endIn, trashKey } from "./trash-key.ts";

/** The service must not remove what is being taken back: that may go on for so long beyond its time. */
const LATE_MS = 86_400_000;

/**
 * Entries that were deleted and can be taken back: their items are in no partition of an index that lists entries, and the service
 * removes them when their time is over. Where they were stands in the items. Of an id that is written again the one in the trash moves aside.
 */
export class Trash implements DlqTrash {
  readonly #index: EntryIndex;
  readonly #access: TableAccess;
  readonly #takingBack: TakingBack;

  constructor(index: EntryIndex, access: TableAccess, retentionMs: number | undefined) {
    this.#index = index;
    this.#access = access;
    this.#takingBack = new TakingBack(access, retentionMs);
  }

  move(ids: readonly string[], batch: string, until: number, signal: AbortSignal): Promise<ReadonlySet<string>> {
    const { clock, serviceNow } = this.#access;
    const end = until + serviceNow() - clock.now();
    return eachOf(ids, (id) => this.#move(id, trashKey(batch, end), end, signal), signal);
  }

  async restore(batch: string, limit: number, signal: AbortSignal): Promise<TakenBack> {
    signal.throwIfAborted();
    const keys = await keysInTime(batch, this.#access, signal);
    const counts = { restored: 0, present: 0 };
    let items = new Map<string, string>();
    const takeBackAll = async (): Promise<void> => {
      const results = await Promise.allSettled([...items].map(([id, key]) => this.#takingBack.one(id, key, signal)));
      items = new Map();
      for (const result of results) {
        if (result.status === "rejected") throw result.reason;
        if (result.value !== undefined) counts[result.value]++;
      }
    };
    if (limit === 0 || keys === undefined) return counts;
    for await (const { id, order_key: key } of this.#index.trash(keys, limit, signal)) {
      items.set(id?.S ?? "", key?.S ?? "");
      // Somebody else may bring some of them back, so the limit may need further ones.
      if (items.size < Math.min(AT_ONCE, limit - counts.restored - counts.present)) continue;
      await takeBackAll();
      if (counts.restored + counts.present === limit) return counts;
    }
    await takeBackAll();
    return counts;
  }

  async count(cap: number, signal: AbortSignal, batch?: string): Promise<number> {
    signal.throwIfAborted();
    if (cap === 0) return 0;
    const all = batch === undefined;
    const now = this.#access.serviceNow();
    const keys = all ? { from: " ", to: END } : await keysInTime(batch, this.#access, signal);
    let count = 0;
    if (keys === undefined) return count;
    for await (const { order_key: key } of this.#index.trash(keys, cap, signal)) {
      if ((!all || endIn(key?.S ?? "") > now) && ++count === cap) break;
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
        ":expiry": expiry(until + LATE_MS)["expires_at"] ?? { N: "0" },
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
}
