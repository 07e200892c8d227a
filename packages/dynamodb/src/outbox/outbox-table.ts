import type { TableDescription } from "../client/table-description.ts";

/** Unfinished records by lane and shard, in the order of their places. */
export const BY_PLACE = "by_place";
/** Records by their id. */
export const BY_ID = "by_id";
/** Unfinished records by the dead letter that they redrive. */
export const BY_ENTRY = "by_entry";

/**
 * The table of an outbox. Its items are records (`R#`), the groups that records are persisted in (`G#`), the orders of
 * keys (`O#`), and one list of the lanes there are.
 */
export function outboxTable(name: string): TableDescription {
  return {
    name,
    key: { partition: { name: "pk", type: "S" } },
    indexes: [
      {
        name: BY_PLACE,
        key: { partition: { name: "shard", type: "S" }, sort: { name: "place", type: "S" } },
        projection: "keys",
      },
      { name: BY_ID, key: { partition: { name: "id", type: "S" } }, projection: "keys" },
      { name: BY_ENTRY, key: { partition: { name: "entry_id", type: "S" } }, projection: "keys" },
    ],
    ttlAttribute: "expires_at",
    writes: ["PutItem", "UpdateItem", "DeleteItem"],
  };
}
