import type { DatabaseSync } from "node:sqlite";

/** Undoes the transaction after an error, which is what counts: some have ended it already, and then there is none. */
export function rollBack(db: DatabaseSync): void {
  try {
    db.exec("ROLLBACK");
  } catch {}
}
