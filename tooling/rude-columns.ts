import type { DatabaseSync } from "node:sqlite";

/** What somebody may put into any column of an SQLite file. */
export const RUDE_VALUES = [
  "9000000000000000000",
  "-9000000000000000000",
  // The ends of SQLite's integers, of which the least has no amount, and those beside what JavaScript has.
  "9223372036854775807",
  "-9223372036854775808",
  "9007199254740992",
  "-9007199254740992",
  "1e300",
  "-1e300",
  "5e-324",
  "9e999",
  "-9e999",
  "2.5",
  "-1",
  "0",
  "''",
  "'text'",
  "x''",
  "x'6162ff'",
  "CAST(x'07070707070707070707' AS TEXT)",
  // What is no UTF-8, two of which are read as the same.
  "CAST(x'ff61' AS TEXT)",
  "CAST(x'fe61' AS TEXT)",
  "NULL",
] as const;

/** Puts each of them into the column of a row of its own, as far as the table takes it. `rowOf`: which row the nth goes into. */
export function putRudeValues(
  db: DatabaseSync,
  {
    table,
    column,
    rowOf,
  }: { readonly table: string; readonly column: string; readonly rowOf: (nth: number) => string },
): void {
  for (const [nth, value] of RUDE_VALUES.entries()) {
    try {
      db.exec(`UPDATE ${table} SET ${column} = ${value} WHERE ${rowOf(nth)}`);
    } catch {
      // Of two that are to be the same only the first is; and none is NULL where the table does not take that.
    }
  }
}
