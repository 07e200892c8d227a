import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Lane } from "./lane.ts";
import { type ContentValues, type RecordValues, STATUSES } from "./record-rows.ts";

/** What is changed in the file. */
export interface WritingStatements {
  /** @throws Error when the number is another lane's, whose binding would get the records */
  addLane(lane: Lane): void;
  /** Returns how many were added: none is whose lane and envelope have a record. */
  addRecords(records: readonly RecordValues[]): number;
  addContents(contents: readonly ContentValues[]): void;
  /** All from one number up to another; returns how many of them were unfinished. */
  finish(from: number, upTo: number, status: number, finishedAt: number): number;
  /** `dueAt` is what the clock shows then; `delayMs` is how long that is from now. */
  retry(number: number, attempts: number, dueAt: number, delayMs: number): void;
  deleteRecord(number: number): void;
  /** Ends a spoiled record as dead, and keeps what there is of it. Returns how many unfinished ones that were. */
  putAside(number: number, finishedAt: number): number;
  /** Writes what is there already, to see whether that can be done. */
  touch(): void;
}

/** So many rows are added by one statement, which costs a quarter less than one by one. */
const ROWS = 20;

export function writingStatements(db: DatabaseSync): WritingStatements {
  // Two writes of one transaction may add the same lane; another one under its number is left alone.
  const addLane = db.prepare(
    `INSERT INTO lane (lane, route_id, binding_id) VALUES (?, ?, ?)
    ON CONFLICT (lane) DO UPDATE SET lane = lane WHERE route_id = excluded.route_id AND binding_id = excluded.binding_id`,
  );
  const addRecords = insertion(
    db,
    "record (number, lane, id, identity, payload_digest, ordering_key, entry_id, created_at)",
    "(?, ?, ?, ?, ?, ?, ?, ?)",
    "ON CONFLICT (lane, identity) DO NOTHING",
  );
  const addContents = insertion(
    db,
    "content (number, lane, address, envelope, received, payload, received_payload, seal)",
    "(?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const deleteContent = db.prepare("DELETE FROM content WHERE number BETWEEN ? AND ?");
  const finish = db.prepare("UPDATE record SET status = ?, finished_at = ? WHERE number BETWEEN ? AND ?");
  const retry = db.prepare("UPDATE record SET attempts = ?, due_at = ?, retry_delay = ? WHERE number = ?");
  const deleteRecord = db.prepare("DELETE FROM record WHERE number = ?");
  const putAside = db.prepare("INSERT INTO spoiled SELECT * FROM content WHERE number = ?");
  const touch = db.prepare("UPDATE lane SET route_id = route_id WHERE lane = (SELECT min(lane) FROM lane)");

  const end = (from: number, upTo: number, status: number, finishedAt: number): number => {
    finish.run(status, finishedAt, from, upTo);
    return Number(deleteContent.run(from, upTo).changes);
  };

  return {
    addLane({ number, routeId, bindingId }) {
      if (Number(addLane.run(number, routeId, bindingId).changes) === 0)
        throw new Error(`the outbox has another lane ${number} than that of route ${routeId}, binding ${bindingId}`);
    },
    addRecords,
    addContents: (contents) => void addContents(contents),
    finish: end,
    retry: (number, attempts, dueAt, delayMs) => void retry.run(attempts, Math.ceil(dueAt), Math.ceil(delayMs), number),
    deleteRecord: (number) => void deleteRecord.run(number),
    putAside(number, finishedAt) {
      putAside.run(number);
      return end(number, number, STATUSES.indexOf("dead"), finishedAt);
    },
    touch: () => void touch.run(),
  };
}

/** Adds rows, {@link ROWS} at a time and what is left one by one; returns how many were added. */
function insertion(
  db: DatabaseSync,
  columns: string,
  row: string,
  otherwise = "",
): (rows: readonly (readonly SQLInputValue[])[]) => number {
  const prepared = (count: number): StatementSync =>
    db.prepare(`INSERT INTO ${columns} VALUES ${Array<string>(count).fill(row).join(", ")} ${otherwise}`);
  const [one, many] = [prepared(1), prepared(ROWS)];
  return (rows) => {
    let [added, next] = [0, 0];
    for (; next + ROWS <= rows.length; next += ROWS) {
      added += Number(many.run(...rows.slice(next, next + ROWS).flat()).changes);
    }
    for (const values of rows.slice(next)) added += Number(one.run(...values).changes);
    return added;
  };
}
