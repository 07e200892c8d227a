import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { type DynamoOptions } from "@bridge/dynamodb";
import { type Consumed, type Item, openTable } from "@bridge/dynamodb/internal";
import { type Clock, type DeadLetter, type DlqAdmin, type DlqStore, type Logger, type Random } from "@bridge/ports";
import { demandPage, marksIn, RecentFacets, SpoiledEntries, unpackDeadLetter } from "@bridge/ports/internal";
import { headOf, isEntry, isPossibleId, packedOf, writtenEntry } from "./dead-letter-item.ts";
import { deleteIds, deleteOldest } from "./deleting.ts";
import { deleteDelivered } from "./delivered.ts";
import { dlqTable } from "./dlq-table.ts";
import { DynamodbJobs } from "./dynamodb-jobs.ts";
import { EntryIndex } from "./entry-index.ts";
import { countNewest, pageOf } from "./heads.ts";
import { markEach } from "./marking.ts";
import { type Content, partsOf } from "./parted-content.ts";
import { Parts } from "./parts.ts";
import { putItem } from "./put-item.ts";
import { Trash } from "./trash.ts";

/** How long counts by groups are good: a look is some thousand read units. */
const FACETS_KEPT_MS = 30_000;

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

/** It has all that a store may have. */
export type DynamodbDlq = DlqStore &
  Required<Pick<DlqStore, "page" | "facets" | "marks" | "jobs">> & { readonly admin: Required<DlqAdmin> };

/**
 * A DLQ store in a table that all instances share. A put, a get and each delete is one request on one item, strongly
 * consistent; lists, pages, counts, deletes by filter and what brings back from the trash find entries by indexes, which may be some
 * moments behind. An entry that
 * is larger than an item (400 KB with its envelope) has its content in further items.
 *
 * @throws BridgeError `DESTINATION_NOT_FOUND` when there is no such table or no region, `SCHEMA_VIOLATION` when the table
 * has another form
 */
export async function openDynamodbDlq(options: DynamodbDlqOptions, signal: AbortSignal): Promise<DynamodbDlq> {
  const { tableName, retentionMs, clock, random } = options;
  const client = await openTable(dlqTable(tableName), options, signal);
  // The service takes days to remove what has expired: until then it is there for nobody.
  const visibleFrom = (): number => (retentionMs === undefined ? 0 : clock.now() - retentionMs + 1);
  const index = new EntryIndex(client, tableName, visibleFrom);
  const spoiled = new SpoiledEntries(options.logger);
  const parts = new Parts(client, tableName, clock);
  const access = {
    client,
    tableName,
    visibleFrom,
    parts,
    clock,
    random,
    serviceNow: () => clock.now() + client.aheadMs,
  };
  const trash = new Trash(index, access, retentionMs);
  const facets = new RecentFacets(FACETS_KEPT_MS, clock);
  const itemAt = async (id: string, caller: AbortSignal): Promise<Item | undefined> => {
    const key = { TableName: tableName, Key: { id: { S: id } }, ConsistentRead: true };
    const { Item } = await client.send(new GetItemCommand(key), caller);
    return isEntry(Item, visibleFrom()) ? Item : undefined;
  };

  const read = (id: string, item: Item, content?: Content): DeadLetter => {
    const packed = packedOf(item, content);
    return spoiled.read(id, packed, () => unpackDeadLetter(id, packed, packed.payload, marksIn(item["marks"]?.S)));
  };

  return {
    async put(entry, caller) {
      caller.throwIfAborted();
      const { id } = entry;
      const expiresAt = retentionMs === undefined ? undefined : entry.failedAt + retentionMs;
      const { item, content } = writtenEntry(entry, expiresAt, random);
      if (content !== undefined) await parts.put(id, content, expiresAt, caller);
      if ((await putItem(id, item, access, caller)) || content === undefined) return;
      // Refused: the first entry of this id is there, which is all that is wanted; this very call may have written it.
      const place = partsOf(await itemAt(id, caller));
      if (place !== content.place) await parts.forget(id, content.place, caller);
    },
    async get(id, caller) {
      caller.throwIfAborted();
      if (!isPossibleId(id)) return undefined;
      for (;;) {
        const item = await itemAt(id, caller);
        const place = partsOf(item);
        if (item === undefined) return undefined;
        if (place === undefined) return read(id, item);
        const content = await parts.get(id, place, caller);
        // Somebody may have deleted it meanwhile, and written it anew.
        const isLost = content === undefined && partsOf(await itemAt(id, caller)) === place;
        if (content !== undefined || isLost) return read(id, item, content);
      }
    },
    async list(filter, page, caller) {
      caller.throwIfAborted();
      demandPage(page);
      return (await index.page(filter, page, caller)).map(headOf);
    },
    async count(cap, caller) {
      caller.throwIfAborted();
      return index.count({}, cap, caller);
    },
    page: (query, page, caller) => pageOf(query, page, index, clock, caller),
    facets: (request, caller) => facets.get(request, () => countNewest(request, index, clock, caller), caller),
    marks: { mark: (changes, caller) => markEach(changes, access, caller) },
    jobs: new DynamodbJobs(index, access),
    admin: {
      async delete(ids, caller, { delivered = false } = {}) {
        const gone = await (delivered ? deleteDelivered(ids, access, caller) : deleteIds(ids, access, caller));
        spoiled.deleted(gone);
        return gone;
      },
      async deleteWhere(filter, limit = Infinity, caller) {
        const count = await deleteOldest(index.keys(filter, limit, caller), limit, access, caller);
        spoiled.deleted();
        return count;
      },
      trash: {
        async move(ids, batch, until, caller) {
          const gone = await trash.move(ids, batch, until, caller);
          spoiled.deleted(gone);
          return gone;
        },
        restore: (batch, limit, caller) => trash.restore(batch, limit, caller),
        count: (cap, caller, batch) => trash.count(cap, caller, batch),
      },
    },
    health: () => ({ ...client.health(), ...spoiled.health() }),
    prove: () => client.prove(),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
