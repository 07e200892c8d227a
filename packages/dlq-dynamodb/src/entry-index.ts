import { QueryCommand } from "@aws-sdk/client-dynamodb";
import type { DynamoClient } from "@bridge/dynamodb";
import type { Item } from "@bridge/dynamodb/internal";
import type { DeadLetterFilter, DeadLetterOrder, DeadLetterPosition, Page } from "@bridge/ports";
import { inOrder } from "./in-order.ts";
import { atOrAfter, justAfter, orderKey } from "./order-key.ts";
import { PartitionReader, queryOf, type Range } from "./partition-reader.ts";
import { JOBS, partitionsOf, SHARDS, TRASH } from "./partitions.ts";

/** Keeps what is in memory of a partition below a megabyte or so. */
const MAX_PAGE = 1_000;
/** An offset up to which heads are read from the first entry on: one round of requests less. */
const READ_ALONG = 1_000;

/** Behind all keys of jobs and of the trash. */
export const END = "\u007f";

/** Finds entries by the indexes, which may be some moments behind the table. */
export class EntryIndex {
  readonly #client: DynamoClient;
  readonly #tableName: string;
  readonly #visibleFrom: () => number;

  /** Entries that failed before `visibleFrom` are not found. */
  constructor(client: DynamoClient, tableName: string, visibleFrom: () => number) {
    this.#client = client;
    this.#tableName = tableName;
    this.#visibleFrom = visibleFrom;
  }

  /**
   * A page with heads, oldest first. The service knows no offsets, so what comes before it is read: a little with it,
   * much by its keys alone.
   */
  async page(filter: DeadLetterFilter, { limit, offset }: Page, signal: AbortSignal): Promise<readonly Item[]> {
    if (limit === 0) return [];
    const apart = offset > READ_ALONG ? offset : 0;
    const ranges = await this.#skip(apart, this.#rangesOf(filter), signal);
    const end = offset - apart + limit;
    const items: Item[] = [];
    for await (const item of inOrder(this.#readers(ranges, end, true, signal))) {
      if (items.push(item) === end) break;
    }
    return items.slice(offset - apart);
  }

  /** The heads behind `after`, read as they are taken; about `count` will be. */
  async *heads(
    filter: DeadLetterFilter,
    {
      order,
      after,
      count,
    }: { readonly order: DeadLetterOrder; readonly after?: DeadLetterPosition | undefined; readonly count: number },
    signal: AbortSignal,
  ): AsyncGenerator<Item, void, undefined> {
    const place = after && orderKey(after.failedAt, after.id);
    const ranges = this.#rangesOf(filter).flatMap((range) => {
      if (place === undefined) return range;
      const rest =
        order === "oldest"
          ? { ...range, from: later(range.from, justAfter(place)) }
          : { ...range, to: earlier(range.to, place) };
      return rest.from < rest.to ? rest : [];
    });
    for await (const item of inOrder(this.#readers(ranges, count, true, signal, order), order)) {
      // The service takes no end that is not in the range.
      if (item["order_key"]?.S !== place) yield item;
    }
  }

  /** What the index has of jobs, newest first, read as it is taken; about `count` will be. */
  jobs(count: number, signal: AbortSignal): AsyncGenerator<Item, void, undefined> {
    const range = { partition: JOBS, from: atOrAfter(0), to: END };
    return inOrder(this.#readers([range], SHARDS * count, true, signal, "newest"), "newest");
  }

  /** The keys of what is in the trash, read as they are taken; about `count` will be. */
  trash(keys: Omit<Range, "partition">, count: number, signal: AbortSignal): AsyncGenerator<Item, void, undefined> {
    const ranges = TRASH.map((partition) => ({ ...keys, partition }));
    return inOrder(this.#readers(ranges, count, false, signal));
  }

  /** The keys of all that match, oldest first, read as they are taken; about `count` will be. */
  keys(filter: DeadLetterFilter, count: number, signal: AbortSignal): AsyncGenerator<Item, void, undefined> {
    return inOrder(this.#readers(this.#rangesOf(filter), count, false, signal));
  }

  /** How many match, up to `cap`. Reads no more of each partition than that could need. */
  async count(filter: DeadLetterFilter, cap: number, signal: AbortSignal): Promise<number> {
    let left = this.#rangesOf(filter).map((range) => queryOf(range, this.#tableName));
    let counted = 0;
    while (left.length > 0 && counted < cap) {
      const Limit = pageSizeFor(cap - counted);
      const pages = await Promise.all(
        left.map((query) => this.#client.send(new QueryCommand({ ...query, Select: "COUNT", Limit }), signal)),
      );
      counted += pages.reduce((sum, { Count = 0 }) => sum + Count, 0);
      left = left.flatMap((query, i) => {
        const ExclusiveStartKey = pages[i]?.LastEvaluatedKey;
        return ExclusiveStartKey === undefined ? [] : [{ ...query, ExclusiveStartKey }];
      });
    }
    return Math.min(cap, counted);
  }

  /** What is left of the ranges without the oldest `count`. */
  async #skip(count: number, ranges: readonly Range[], signal: AbortSignal): Promise<readonly Range[]> {
    if (count === 0) return ranges;
    const readers = this.#readers(ranges, count, false, signal);
    let skipped = 0;
    for await (const _ of inOrder(readers)) if (++skipped === count) break;
    return skipped < count ? [] : readers.map(({ rest }) => rest);
  }

  #rangesOf(filter: DeadLetterFilter): readonly Range[] {
    const { since = 0, before = Infinity } = filter;
    const from = atOrAfter(Math.max(since, this.#visibleFrom()));
    const to = atOrAfter(before);
    // The service takes no range that ends before it begins.
    return from < to ? partitionsOf(filter).map((partition) => ({ partition, from, to })) : [];
  }

  #readers(
    ranges: readonly Range[],
    count: number,
    heads: boolean,
    signal: AbortSignal,
    order: DeadLetterOrder = "oldest",
  ): readonly PartitionReader[] {
    const pageSize = pageSizeFor(count);
    const options = { client: this.#client, tableName: this.#tableName, pageSize, heads, order, signal };
    return ranges.map((range) => new PartitionReader(range, options));
  }
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

function earlier(a: string, b: string): string {
  return a < b ? a : b;
}

/**
 * Entries to ask of each partition so that `count` are found with one request to each, even if they are all of one
 * category: its part of them, and what chance may add.
 */
function pageSizeFor(count: number): number {
  const part = count / SHARDS;
  return Math.min(MAX_PAGE, count, Math.ceil(part + 4 * Math.sqrt(part)));
}
