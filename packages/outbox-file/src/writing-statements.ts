import type { DatabaseSync } from "node:sqlite";
import type { Lane } from "./lane.ts";
import type { ContentValues, RecordValues } from "./record-rows.ts";

/** What is changed in the file. */
export interface WritingStatements {
  addLane(lane: Lane): void;
  /** False when there is a record of this lane and envelope. */
  addRecord(values: RecordValues): boolean;
  addContent(values: ContentValues): void;
  /** All from one number up to another; returns how many of them were unfinished. */
  finish(from: number, upTo: number, status: number, finishedAt: number): number;
  /** `dueAt` is what the clock shows then; `delayMs` is how long that is from now. */
  retry(number: number, attempts: number, dueAt: number, delayMs: number): void;
  deleteRecord(number: number): void;
  /** Writes what is there already, to see whether that can be done. */
  touch(): void;
}

export function writingStatements(db: DatabaseSync): WritingStatements {
  const addLane = db.prepare("INSERT INTO lane (lane, route_id, binding_id) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  const addRecord = db.prepare(`
    INSERT INTO record (number, lane, id, envelope_id, payload_digest, ordering_key, entry_id, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (lane, envelope_id) DO NOTHING`);
  const addContent = db.prepare(`
    INSERT INTO content (number, lane, address, envelope, received, payload, received_payload)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const deleteContent = db.prepare("DELETE FROM content WHERE number BETWEEN ? AND ?");
  const finish = db.prepare("UPDATE record SET status = ?, finished_at = ? WHERE number BETWEEN ? AND ?");
  const retry = db.prepare("UPDATE record SET attempts = ?, due_at = ?, retry_delay = ? WHERE number = ?");
  const deleteRecord = db.prepare("DELETE FROM record WHERE number = ?");
  const touch = db.prepare("UPDATE lane SET route_id = route_id WHERE lane = 1");

  return {
    addLane: ({ number, routeId, bindingId }) => void addLane.run(number, routeId, bindingId),
    addRecord: (values) => addRecord.run(...values).changes > 0,
    addContent: (values) => void addContent.run(...values),
    finish(from, upTo, status, finishedAt) {
      finish.run(status, finishedAt, from, upTo);
      return Number(deleteContent.run(from, upTo).changes);
    },
    retry: (number, attempts, dueAt, delayMs) => void retry.run(attempts, Math.ceil(dueAt), Math.ceil(delayMs), number),
    deleteRecord: (number) => void deleteRecord.run(number),
    touch: () => void touch.run(),
  };
}
