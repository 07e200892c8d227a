import type { GenericSchema } from "valibot";
import { keyTables } from "./key-tables.ts";
import { schemaNode } from "./schema-node.ts";

/** The keys of a document as a table in Markdown, in the form of the configuration's own reference. */
export function documentReference(schema: GenericSchema): string {
  return keyTables("", schemaNode(schema), true);
}
