import type { DatabaseSync } from "node:sqlite";
import { renumber, type UnreadableRow } from "@bridge/file/internal";
import { IllegibleText, makeLegible } from "./legible-texts.ts";
import { A_DAY_FROM_NOW, SOUND, SOUND_JOB, UNSOUND, unsoundTime } from "./sound-columns.ts";

/**
 * Makes what no statement could read readable: a number that JavaScript does not have, or what is no number where one belongs, would
 * keep everybody from all other rows. What there is of the entry is left as it is. Such rows are looked for in indexes alone, but
 * those of the few jobs, and texts that are not UTF-8, when one was met.
 */
export function mendRows(db: DatabaseSync, met?: UnreadableRow): void {
  renumber(db, ["dead_letter"]);
  renumber(db, ["dead_letter_trash"]);
  for (const unsound of UNSOUND)
    db.exec(`
      UPDATE dead_letter SET ${settingOf(SOUND)}
      WHERE number IN (SELECT number FROM dead_letter WHERE ${unsound})`);
  if (met instanceof IllegibleText) makeLegible(db);
  for (const unsound of unsoundTime("until"))
    db.exec(`UPDATE dead_letter_trash SET until = ${A_DAY_FROM_NOW} WHERE ${unsound}`);
  const other = Object.entries(SOUND_JOB).map(([column, value]) => `${column} IS NOT ${value}`);
  db.exec(`UPDATE dead_letter_job SET ${settingOf(SOUND_JOB)} WHERE ${other.join(" OR ")}`);
}

function settingOf(sound: Readonly<Record<string, string>>): string {
  return Object.entries(sound)
    .map(([column, value]) => `${column} = ${value}`)
    .join(", ");
}
