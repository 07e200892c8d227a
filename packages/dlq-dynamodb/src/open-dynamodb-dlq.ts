import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { type DynamoOptions } from "@bridge/dynamodb";
import { type Consumed, type Item, openTable } from "@bridge/dynamodb/internal";
import { type Clock, type DeadLetter, type DlqAdmin, type DlqStore, type Logger, type Random } from "@bridge/ports";
import { SpoiledEntries, unpackDeadLetter } from "@bridge/ports/internal";
import { headOf, isPossibleId, packedOf, writtenEntry } from "./dead-letter-item.ts";
import { deleteIds, deleteOldest } from "./deleting.ts";
import { dlqTable } from "./dlq-table.ts";
import { EntryIndex } from "./entry-index.ts";
import { atOrAfter } from "./order-key.ts";
import { PLACE } from "./parted-content.ts";
import { Parts } from "./parts.ts";

export interface DynamodbDlqOptions {
  /** The table, as {@link dlqTable} describes it. */
  readonly tableName: string;
  /** Entries that failed so many milliseconds ago are not there any more. Default: they are kept. */
  readonly retentionMs?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Is told what each answered request has consumed. */
  readonly onConsumed?: ((consumed: Consumed) => void) | undefined;
  /** For the SDK's client. Default: region, endpoint and credentials as the SDK finds them. */
  readonly sdk?: DynamoOptions["sdk"];
}

/**
 * A DLQ store in a table that all instances share. A put, a get and each delete is one request on one item, strongly
 * consistent; lists, counts and deletes by filter find entries by indexes, which may be some moments behind. An entry that
 * is larger than an item (400 KB with its envelope) has its content in further items.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when there is no such table or no region, `SCHEMA_VIOLATION` when the table
 * has another form
 */
export async function openDynamodbDlq(
  options: DynamodbDlqOptions,
  signal: AbortSignal,
): Promise<DlqStore & { readonly admin: DlqAdmin }> {
  const { tableName, retentionMs, clock, random } = options;
  const client = await openTable(dlqTable(tableName), options, signal);
  // The service takes days to remove what has expired: until then it is there for nobody.
  const visibleFrom = (): number => (retentionMs === undefined ? 0 : clock.now() - retentionMs + 1);
  const index = new EntryIndex(client, tableName, visibleFrom);
  const spoiled = new SpoiledEntries(options.logger);
  const parts = new Parts(client, tableName, clock);
  const deleting = { client, tableName, visibleFrom, parts, clock, random };
  const itemAt = async (id: string, caller: AbortSignal): Promise<Item | undefined> => {
    const key = { TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true };
    const { Item } = await client.send(new GetItemCommand(key), caller);
    return (Item?.["order_key"]?.S ?? "") >= atOrAfter(visibleFrom()) ? Item : undefined;
  };

  const read = (id: string, packed: ReturnType<typeof packedOf>): DeadLetter =>
    spoiled.read(id, packed, () => unpackDeadLetter(id, packed, packed.payload));

  return {
    async put(entry, caller) {
      caller.throwIfAborted();
      const { id } = entry;
      const expiresAt = retentionMs === undefined ? undefined : entry.failedAt + retentionMs;
      const { item, content } = writtenEntry(entry, expiresAt, random);
      if (content !== undefined) await parts.put(id, content, expiresAt, caller);
      const command = new PutItemCommand({
        TableName: tableName,
        Item: item,
        ConditionExpression: "attribute_not_exists(order_key) OR order_key < :from",
        ExpressionAttributeValues: { ":from": { S: atOrAfter(visibleFrom()) } },
      });
      const { made } = await client.sendIf(command, caller);
      // Refused: the first entry of this id is there, which is all that is wanted; this very call may have written it.
      if (made || content === undefined) return;
      const place = (await itemAt(id, caller))?.[PLACE]?.S;
      if (place !== content.place) await parts.forget(id, content.place, caller);
    },
    async get(id, caller) {
      caller.throwIfAborted();
      if (!isPossibleId(id)) return undefined;
      for (;;) {
        const item = await itemAt(id, caller);
        const place = item?.[PLACE]?.S;
        if (item === undefined) return undefined;
        if (place === undefined) return read(id, packedOf(item));
        const content = await parts.get(id, place, caller);
        // Somebody may have deleted it meanwhile, and written it anew.
        const isLost = content === undefined && (await itemAt(id, caller))?.[PLACE]?.S === place;
        if (content !== undefined || isLost) return read(id, packedOf(item, content));
      }
    },
    async list(filter, page, caller) {
      caller.throwIfAborted();
      return (await index.page(filter, page, caller)).map(headOf);
    },
    async count(cap, caller) {
      caller.throwIfAborted();
      return index.count({}, cap, caller);
    },
    admin: {
      async delete(ids, caller) {
        const gone = await deleteIds(ids, deleting, caller);
        spoiled.deleted(gone);
        return gone;
      },
      async deleteWhere(filter, limit = Infinity, caller) {
        const count = await deleteOldest(index.keys(filter, limit, caller), limit, deleting, caller);
        spoiled.deleted();
        return count;
      },
    },
    health: () => ({ ...client.health(), ...spoiled.health() }),
    prove: () => client.prove(),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
