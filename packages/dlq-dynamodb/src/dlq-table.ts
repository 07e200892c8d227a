import type { TableDescription, TableIndex } from "@bridge/dynamodb";

/** The indexes by what their entries have in common; a page of any filter is read from one of them. */
export const INDEXES = { category: "by_category", route: "by_route" } as const;

/**
 * The table of dead letters, by id. Lists are read from two indexes that hold everything of an entry but its envelope,
 * and so no payloads: one by category, one by category and route, both in the order of failure. Their partitions are
 * spread ({@link SHARDS}). What is in the trash, and the jobs, are in partitions of their own of the first one, and not in the second.
 */
export function dlqTable(name: string): TableDescription {
  return {
    name,
    key: { partition: { name: "id", type: "S" } },
    indexes: [inOrder(INDEXES.category, "category_shard"), inOrder(INDEXES.route, "route_shard")],
    ttlAttribute: "expires_at",
    writes: ["PutItem", "UpdateItem"],
  };
}

function inOrder(name: string, partition: string): TableIndex {
  const key = { partition: { name: partition, type: "S" }, sort: { name: "order_key", type: "S" } } as const;
  return { name, key, projection: ["head", "marks"] };
}
