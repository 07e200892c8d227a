import type { Item } from "../client/batches.ts";
import type { TableDescription } from "../client/table-description.ts";

/** The table of configurations: several documents may share one. */
export function configTable(name: string): TableDescription {
  return {
    name,
    key: { partition: { name: "config_key", type: "S" }, sort: { name: "part", type: "S" } },
    indexes: [],
    // Who runs a document need not be let commit one.
    writes: [],
  };
}

/** What is stored of a document, or which content that is, and what is staged: the only item that is ever compared. */
export const HEAD = "document";
/** Says that a former version is kept, which lies beside it: who asks which there are need not read them. */
export const VERSION = "version/";
export const FORMER = "former/";
/** What was written by a store, one item each; never changed. */
export const CONTENT = "content/";
export const HISTORY = "history/";

export function keyOf(document: string, part: string): Item {
  return { config_key: { S: document }, part: { S: part } };
}
