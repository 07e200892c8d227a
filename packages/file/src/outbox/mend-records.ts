import type { DatabaseSync } from "node:sqlite";
import { renumber } from "../database/mend.ts";

/** No lane that was written has a greater number: behind it there is room for as many again. */
const MOST_LANE = 2 ** 52;

/**
 * Makes what no statement could read readable: a number that JavaScript does not have would keep everybody from all other records. What
 * is not as it was written is found when it is read for a send.
 */
export function mendRecords(db: DatabaseSync): void {
  renumber(db, ["record", "content"]);
  db.exec(`DELETE FROM lane WHERE lane < 1 OR lane > ${MOST_LANE}`);
  // A content is of the lane of its record; without one the file has records of no route.
  db.exec(`
    UPDATE content SET lane = coalesce((SELECT record.lane FROM record WHERE record.number = content.number), 0)
    WHERE lane NOT IN (SELECT lane FROM lane)`);
}
