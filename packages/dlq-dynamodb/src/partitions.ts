import { createHash } from "node:crypto";
import { type DeadLetterFilter, ERROR_CODES, type ErrorClass } from "@bridge/ports";
import { INDEXES } from "./dlq-table.ts";

/**
 * Over how many partitions the entries of one category are spread in an index. A partition takes 1,000 small writes a
 * second, a new table 4,000: with four, an outage that dead-letters everything under one category is not slowed by the
 * index. More would make every page dearer, as each partition is asked. It is written into the items: another number
 * needs another table.
 */
export const SHARDS = 4;

const CATEGORIES: readonly ErrorClass[] = [...new Set(Object.values(ERROR_CODES))];

/** A part of an index, within which entries are in order. */
export interface Partition {
  readonly index: string;
  /** The name of the attribute, and its value. */
  readonly attribute: string;
  readonly value: string;
}

/** The attributes of an entry that say where it is in the indexes. */
export function shardsOf(id: string, category: ErrorClass, routeId: string) {
  const shard = shardOf(id);
  return {
    category_shard: { S: categoryShard(category, shard) },
    route_shard: { S: routeShard(category, shard, routeId) },
  };
}

/** The part of the trash that holds the entry. */
export function trashShard(id: string): string {
  return `trash/${shardOf(id)}`;
}

/** All that is in the trash. */
export const TRASH: readonly Partition[] = Array.from({ length: SHARDS }, (_, shard) => ({
  index: INDEXES.category,
  attribute: "category_shard",
  value: `trash/${shard}`,
}));

/** All jobs: a few hundred. */
export const JOBS: Partition = { index: INDEXES.category, attribute: "category_shard", value: "jobs" };

/**
 * Where all entries of a route, of a category, of both, or of neither are, and no others. There are few categories, and all
 * are known: that is why two indexes are enough for any filter.
 */
export function partitionsOf({ routeId, category }: DeadLetterFilter): readonly Partition[] {
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  return (category === undefined ? CATEGORIES : [category]).flatMap((each) =>
    shards.map((shard) =>
      routeId === undefined
        ? { index: INDEXES.category, attribute: "category_shard", value: categoryShard(each, shard) }
        : { index: INDEXES.route, attribute: "route_shard", value: routeShard(each, shard, routeId) },
    ),
  );
}

/** What a partition of either index says of its entries. */
export function placeIn(partition: string): { readonly category: ErrorClass; readonly routeId: string } {
  const [category = "", , ...route] = partition.split("/");
  return { category: CATEGORIES.find((each) => each === category) ?? "permanent", routeId: route.join("/") };
}

function shardOf(id: string): number {
  return (createHash("sha256").update(id).digest()[0] ?? 0) % SHARDS;
}

function categoryShard(category: ErrorClass, shard: number): string {
  return `${category}/${shard}`;
}

function routeShard(category: ErrorClass, shard: number, routeId: string): string {
  return `${category}/${shard}/${routeId}`;
}
