import { GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import type { DlqJobs, StoredJob } from "@bridge/ports";
import { expiry, isPossibleJobId, JOB_PREFIX } from "./dead-letter-item.ts";
import { AT_ONCE } from "./each-of.ts";
import type { EntryIndex } from "./entry-index.ts";
import { orderKey, timeIn } from "./order-key.ts";
import { JOBS } from "./partitions.ts";
import type { TableAccess } from "./table-access.ts";

/** Revisions whose writers an item remembers: more than can be written between the loss of an answer and the look whether it was made. */
const REMEMBERED = 8;
/** How long something is left of a deleted job, for nobody. */
const LEFT_MS = 3_600_000;

/**
 * Jobs as items of the table. The index has their states, as what it has of an entry is its head: so a look for those that are not
 * over reads little, and some moments late; each is then read as it is.
 */
export class DynamodbJobs implements DlqJobs {
  readonly #index: EntryIndex;
  readonly #access: TableAccess;

  constructor(index: EntryIndex, access: TableAccess) {
    this.#index = index;
    this.#access = access;
  }

  async get(id: string, signal: AbortSignal): Promise<StoredJob | undefined> {
    signal.throwIfAborted();
    return isPossibleJobId(id) ? jobIn(await this.#read(id, signal)) : undefined;
  }

  async list({ states, limit }: Parameters<DlqJobs["list"]>[0], signal: AbortSignal): Promise<readonly StoredJob[]> {
    signal.throwIfAborted();
    const found: StoredJob[] = [];
    const isWanted = (state: string): boolean => states?.includes(state) ?? true;
    let ids: string[] = [];
    const readAll = async (): Promise<void> => {
      const jobs = await Promise.all(ids.map((id) => this.get(id, signal)));
      for (const job of jobs) if (job !== undefined && isWanted(job.state) && found.length < limit) found.push(job);
      ids = [];
    };
    for await (const { id, head } of this.#index.jobs(limit, signal)) {
      if (!isWanted(head?.S ?? "")) continue;
      ids.push((id?.S ?? "").slice(JOB_PREFIX.length));
      if (ids.length < Math.min(AT_ONCE, limit - found.length)) continue;
      await readAll();
      if (found.length === limit) break;
    }
    await readAll();
    return found;
  }

  async put(job: StoredJob, expectedRevision: number | undefined, signal: AbortSignal): Promise<boolean> {
    const { client, tableName, random } = this.#access;
    const { id, revision, state, createdAt, document } = job;
    const token = random.id();
    const isNew = expectedRevision === undefined;
    const writer = isNew ? "written_by = :writers" : "written_by.#own = :token";
    const forgotten = isNew ? "expires_at" : "written_by.#old";
    const command = new UpdateItemCommand({
      TableName: tableName,
      Key: keyOf(id),
      UpdateExpression: `SET category_shard = :jobs, order_key = :order, head = :state, #revision = :revision, #document = :document, ${writer} REMOVE ${forgotten}`,
      ConditionExpression: isNew ? "attribute_not_exists(order_key)" : "#revision = :expected",
      ExpressionAttributeNames: {
        "#revision": "revision",
        "#document": "document",
        ...(!isNew && { "#own": String(revision), "#old": String(revision - REMEMBERED) }),
      },
      ExpressionAttributeValues: {
        ":jobs": { S: JOBS.value },
        ":order": { S: orderKey(createdAt, id) },
        ":state": { S: state },
        ":revision": { N: String(revision) },
        ":document": { S: document },
        ...(isNew
          ? { ":writers": { M: { [revision]: { S: token } } } }
          : { ":token": { S: token }, ":expected": { N: String(expectedRevision) } }),
      },
    });
    const result = await client.sendIf(command, signal);
    if (result.made || !result.unsure) return result.made;
    const { written_by: writers } = (await this.#read(id, signal)) ?? {};
    return writers?.M?.[revision]?.S === token;
  }

  async delete(ids: readonly string[], signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { client, tableName, clock } = this.#access;
    for (const id of ids.filter(isPossibleJobId)) {
      const command = new UpdateItemCommand({
        TableName: tableName,
        Key: keyOf(id),
        UpdateExpression:
          "SET expires_at = :expiry REMOVE category_shard, order_key, head, #revision, #document, written_by",
        ConditionExpression: "attribute_exists(order_key)",
        ExpressionAttributeNames: { "#revision": "revision", "#document": "document" },
        ExpressionAttributeValues: { ":expiry": expiry(clock.now() + LEFT_MS)["expires_at"] ?? { N: "0" } },
      });
      await client.sendIf(command, signal);
    }
  }

  async #read(id: string, signal: AbortSignal): Promise<Item | undefined> {
    const { client, tableName } = this.#access;
    const key = { TableName: tableName, Key: keyOf(id), ConsistentRead: true };
    return (await client.send(new GetItemCommand(key), signal)).Item;
  }
}

function keyOf(id: string): Item {
  return { id: { S: `${JOB_PREFIX}${id}` } };
}

/** `undefined`: there is none, or only what is left of it. */
export function jobIn(item: Item | undefined): StoredJob | undefined {
  const { id, order_key: order, head, revision, document } = item ?? {};
  if (id?.S === undefined || order?.S === undefined) return undefined;
  return {
    id: id.S.slice(JOB_PREFIX.length),
    revision: Number(revision?.N ?? 0),
    state: head?.S ?? "",
    createdAt: timeIn(order.S),
    document: document?.S ?? "",
  };
}
