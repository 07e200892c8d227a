import type { DatabaseSync } from "node:sqlite";
import type { FileKind } from "./file-kind.ts";
import { rollBack } from "./roll-back.ts";

/** Brings a file to the newest schema: all steps or none. */
export function migrate(db: DatabaseSync, kind: FileKind): void {
  const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version === kind.migrations.length) return;
  // Without the log, so that the header of the file itself says which schema it has.
  db.exec("PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE");
  try {
    for (const step of kind.migrations.slice(version)) db.exec(step);
    db.exec(`PRAGMA application_id = ${kind.applicationId}; PRAGMA user_version = ${kind.migrations.length}; COMMIT`);
  } catch (error) {
    rollBack(db);
    throw error;
  }
}
