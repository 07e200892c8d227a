import { type AttributeValue, QueryCommand, type QueryCommandInput } from "@aws-sdk/client-dynamodb";
import type { DynamoClient } from "@bridge/dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import type { DeadLetterOrder } from "@bridge/ports";
import { justAfter } from "./order-key.ts";
import type { Partition } from "./partitions.ts";

export interface ReaderOptions {
  readonly client: DynamoClient;
  readonly tableName: string;
  /** Entries a request. */
  readonly pageSize: number;
  /** Whether more than the keys is to be read. */
  readonly heads: boolean;
  /** Default: oldest. */
  readonly order?: DeadLetterOrder;
  readonly signal: AbortSignal;
}

/** Part of a partition: from a key on, to before another one. */
export interface Range {
  readonly partition: Partition;
  readonly from: string;
  readonly to: string;
}

/** Reads the entries of a range in order, a page ahead. */
export class PartitionReader {
  readonly #options: ReaderOptions;
  readonly #range: Range;
  #entries: readonly Item[] = [];
  #taken = 0;
  #position: string;
  /** Where the service goes on; `null` when there is nothing more. */
  #next: Record<string, AttributeValue> | undefined | null;

  constructor(range: Range, options: ReaderOptions) {
    this.#range = range;
    this.#options = options;
    this.#position = range.from;
  }

  /** What is left of the range, oldest first. */
  get rest(): Range {
    return { ...this.#range, from: this.#position };
  }

  /** The key of the entry that comes next; `undefined` when none is in memory. */
  get key(): string | undefined {
    return this.#entries[this.#taken]?.["order_key"]?.S;
  }

  /** Nothing is in memory, and there may be more. */
  get isDry(): boolean {
    return this.#next !== null && this.#taken === this.#entries.length;
  }

  /** So little is in memory that it may as well be refilled when another one has to be. */
  get isLow(): boolean {
    return this.#next !== null && this.#entries.length - this.#taken < this.#options.pageSize / 2;
  }

  take(): Item {
    const item = this.#entries[this.#taken++] ?? {};
    this.#position = justAfter(item["order_key"]?.S ?? "");
    return item;
  }

  async refill(): Promise<void> {
    const { client, pageSize, heads, order = "oldest", signal } = this.#options;
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        ...queryOf(this.#range, this.#options.tableName),
        Limit: pageSize,
        ScanIndexForward: order === "oldest",
        ...(!heads && { ProjectionExpression: "id, order_key" }),
        ...(this.#next && { ExclusiveStartKey: this.#next }),
      }),
      signal,
    );
    this.#entries = [...this.#entries.slice(this.#taken), ...Items];
    this.#taken = 0;
    this.#next = LastEvaluatedKey ?? null;
  }
}

/** What asks for a range. */
export function queryOf({ partition, from, to }: Range, tableName: string): QueryCommandInput {
  return {
    TableName: tableName,
    IndexName: partition.index,
    // No key ends where a range does, so the end may as well be included.
    KeyConditionExpression: `${partition.attribute} = :partition AND order_key BETWEEN :from AND :to`,
    ExpressionAttributeValues: { ":partition": { S: partition.value }, ":from": { S: from }, ":to": { S: to } },
  };
}
