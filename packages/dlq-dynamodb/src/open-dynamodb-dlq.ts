import { GetItemCommand, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { type DynamoOptions } from "@bridge/dynamodb";
import { type Consumed, openTable } from "@bridge/dynamodb/internal";
import { type Clock, type DlqAdmin, type DlqStore, type Logger, type Random } from "@bridge/ports";
import { SpoiledEntries } from "@bridge/ports/internal";
import { entryOf, headOf, isPossibleId, itemOf } from "./dead-letter-item.ts";
import { deleteIds, deleteOldest } from "./deleting.ts";
import { dlqTable } from "./dlq-table.ts";
import { EntryIndex } from "./entry-index.ts";
import { atOrAfter } from "./order-key.ts";

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
 * consistent; lists, counts and deletes by filter find entries by indexes, which may be some moments behind.
 *
 * An entry that no item can hold (400 KB with its envelope) is refused as `PAYLOAD_TOO_LARGE` before anything is sent:
 * the engine then keeps the message where it is.
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
  const deleting = { client, tableName, visibleFrom, clock, random };

  return {
    async put(entry, caller) {
      caller.throwIfAborted();
      const command = new PutItemCommand({
        TableName: tableName,
        Item: itemOf(entry, retentionMs === undefined ? undefined : entry.failedAt + retentionMs),
        ConditionExpression: "attribute_not_exists(order_key) OR order_key < :from",
        ExpressionAttributeValues: { ":from": { S: atOrAfter(visibleFrom()) } },
      });
      // Refused: the first entry of this id is there, which is all that is wanted.
      await client.sendIf(command, caller);
    },
    async get(id, caller) {
      caller.throwIfAborted();
      if (!isPossibleId(id)) return undefined;
      const key = { TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true };
      const { Item } = await client.send(new GetItemCommand(key), caller);
      const isThere = (Item?.["order_key"]?.S ?? "") >= atOrAfter(visibleFrom());
      return isThere ? spoiled.read(id, () => entryOf(id, Item ?? {})) : undefined;
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
