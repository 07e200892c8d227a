import type { DatabaseSync } from "node:sqlite";
import type { FileKind } from "./file-kind.ts";
import { rollBack } from "./roll-back.ts";

/** A row that was written has a number up to this: behind it there is room for as many again that JavaScript has. */
const MOST = 2 ** 52;

/** Has a kind make its rows readable, all or none. True when it has changed any. */
export function mend(db: DatabaseSync, kind: FileKind): boolean {
  if (kind.mend === undefined) return false;
  const before = changesOf(db);
  db.exec("BEGIN IMMEDIATE");
  try {
    kind.mend(db);
    db.exec("COMMIT");
  } catch (error) {
    rollBack(db);
    throw error;
  }
  return changesOf(db) > before;
}

/** Gives rows whose number nobody could read, or has ever given, the next one; those of one number in all of the tables the same. */
export function renumber(db: DatabaseSync, tables: readonly string[]): void {
  const numbers = (where: string): string =>
    tables.map((table) => `SELECT number FROM ${table} WHERE ${where}`).join(" UNION ");
  const odd = db.prepare(`${numbers("number < 1")} UNION ${numbers(`number > ${MOST}`)}`);
  odd.setReadBigInts(true);
  const found = odd.all() as { readonly number: bigint }[];
  if (found.length === 0) return;
  const last = db.prepare(
    `SELECT coalesce(max(number), 0) AS number FROM (${numbers(`number BETWEEN 1 AND ${MOST}`)})`,
  );
  let next = (last.get() as { readonly number: number }).number;
  for (const { number } of found) {
    next++;
    for (const table of tables) db.prepare(`UPDATE ${table} SET number = ? WHERE number = ?`).run(next, number);
  }
}

/** How much has been changed since the file was opened. */
export function changesOf(db: DatabaseSync): number {
  return (db.prepare("SELECT total_changes() AS changes").get() as { readonly changes: number }).changes;
}
