import type { TableDescription } from "../client/table-description.ts";

/** The table of leases: one item a key. Items stay, because a token has to grow for ever. */
export function leaseTable(name: string): TableDescription {
  return { name, key: { partition: { name: "lease_key", type: "S" } }, indexes: [] };
}
