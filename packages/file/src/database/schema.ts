import { DatabaseSync } from "node:sqlite";
import type { FileKind } from "./file-kind.ts";
import { migrate } from "./migrate.ts";

/** Whether the tables and indexes of a file are those of its kind, word for word: a disk may have changed one. */
export function hasSchemaOf(db: DatabaseSync, kind: FileKind): boolean {
  const model = new DatabaseSync(":memory:");
  try {
    migrate(model, kind);
    return schemaOf(db) === schemaOf(model);
  } finally {
    model.close();
  }
}

function schemaOf(db: DatabaseSync): string {
  const entries = db.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").all();
  return JSON.stringify(entries);
}
