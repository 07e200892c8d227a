import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { UnreadableRow } from "@bridge/file/internal";
import { NEW_ID } from "./sound-columns.ts";

/** What stands in a text that was read in place of bytes that are not UTF-8. */
const REPLACED = "\u{FFFD}";
/** What entries are found and ordered by, and jobs. */
export const ENTRY_TEXTS = ["id", "route_id", "binding_id", "category", "error_code", "fingerprint"] as const;
export const JOB_TEXTS = ["id"] as const;

/** A row has a text that is read as another one: nobody could name it, or go on behind it. */
export class IllegibleText extends UnreadableRow {}

/** Tells texts of a table that are read as they are from those that are not. */
export class LegibleTexts {
  readonly #texts: readonly string[];
  readonly #same: StatementSync;

  constructor(db: DatabaseSync, table: string, texts: readonly string[]) {
    this.#texts = texts;
    this.#same = db.prepare(`SELECT 1 FROM ${table} WHERE ${texts.map((column) => `${column} = ?`).join(" AND ")}`);
  }

  /** Of rows that have all of these texts. @throws IllegibleText */
  demand<Row>(rows: readonly Row[]): readonly Row[] {
    for (const row of rows as readonly Readonly<Record<string, unknown>>[]) {
      const texts = this.#texts.map((column) => row[column] as SQLInputValue);
      const isDoubtful = texts.some((text) => typeof text === "string" && text.includes(REPLACED));
      if (isDoubtful && this.#same.get(...texts) === undefined) throw new IllegibleText();
    }
    return rows;
  }
}

/** Makes each such text what is read of it; of an id another one, as there may be an entry of that. It goes through all entries and jobs. */
export function makeLegible(db: DatabaseSync): void {
  db.function("as_read", { deterministic: true }, (text) => text);
  const settings = ENTRY_TEXTS.map((column) => {
    const read = column === "id" ? NEW_ID : `as_read(${column})`;
    return `${column} = CASE WHEN typeof(${column}) = 'text' AND ${column} <> as_read(${column}) THEN ${read} ELSE ${column} END`;
  });
  // Once for each entry; between two of them a blank belongs to neither.
  const all = ENTRY_TEXTS.join(" || ' ' || ");
  db.exec(`UPDATE dead_letter SET ${settings.join(", ")} WHERE ${all} <> as_read(${all})`);
  db.exec(`UPDATE dead_letter_job SET id = ${NEW_ID} WHERE id <> as_read(id)`);
}
