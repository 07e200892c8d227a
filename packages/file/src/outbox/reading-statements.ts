import type { DatabaseSync } from "node:sqlite";
import type { StoredRow } from "./record-rows.ts";

/** What a queue entry is made of. */
export interface QueueRow {
  readonly number: number;
  readonly id: string;
  readonly ordering_key: string | null;
  readonly attempts: number;
  /** Epoch milliseconds; 0 when it has not been tried yet. */
  readonly due_at: number;
  /** How long it was from the last attempt to that, in milliseconds. */
  readonly retry_delay: number;
}

/** What is left when a disk has lost the record of a content. */
type LostRow = { readonly [Column in keyof QueueRow]: Column extends "number" ? number : null };

/** A record by what became of it. */
interface StateRow extends QueueRow {
  readonly lane: number;
  readonly payload_digest: string;
  readonly status: number;
}

/** What a list shows. */
export interface HeadRow extends QueueRow {
  readonly created_at: number;
  readonly address: string;
  readonly envelope: string;
}

/** What is asked of the file. `lane` is a lane's number; everything goes by number, oldest first. */
export interface ReadingStatements {
  lanes(): readonly { readonly lane: number; readonly route_id: string; readonly binding_id: string }[];
  depths(): readonly { readonly lane: number; readonly depth: number }[];
  /** The highest number that has been given; 0 when there is none. */
  newest(): number;
  /** The numbers of records from one number on. */
  numbersFrom(first: number): readonly number[];
  byIdentity(lane: number, identity: string): StateRow | undefined;
  byId(id: string): StateRow | undefined;
  /** A record with its content; `undefined` when it is finished. */
  stored(number: number): StoredRow | undefined;
  /** Unfinished records of a lane after one number and up to another. */
  queue(lane: number, after: number, upTo: number, limit: number): readonly (QueueRow | LostRow)[];
  /** The numbers of the oldest unfinished records of a lane. */
  unfinished(lane: number, limit: number): readonly number[];
  head(number: number): HeadRow | undefined;
  oldestCreatedAt(lane: number): number | undefined;
  redriving(entryId: string): string | undefined;
  /** The numbers of records that were finished before. */
  finishedBefore(time: number, limit: number): readonly number[];
}

const TRIED = `ordering_key, ${["attempts", "due_at", "retry_delay"].map(whole).join(", ")}`;
const QUEUE = `number, ${text("id")}, ${TRIED}`;
const STATE = `${QUEUE}, ${["lane", "status"].map(whole).join(", ")}, payload_digest`;
const UNFINISHED = "SELECT number FROM content INDEXED BY content_by_lane WHERE lane = ?";

export function readingStatements(db: DatabaseSync): ReadingStatements {
  const lanes = db.prepare("SELECT lane, route_id, binding_id FROM lane");
  const depths = db.prepare("SELECT lane, count(*) AS depth FROM content INDEXED BY content_by_lane GROUP BY lane");
  const newest = db.prepare("SELECT coalesce(max(number), 0) AS number FROM record");
  const numbersFrom = db.prepare("SELECT number FROM record WHERE number >= ?");
  const byIdentity = db.prepare(`SELECT ${STATE} FROM record WHERE lane = ? AND identity = ?`);
  const byId = db.prepare(`SELECT ${STATE} FROM record WHERE id = ?`);
  const stored = db.prepare(`
    SELECT number, id, payload_digest, ordering_key, entry_id, ${whole("created_at")},
      address, envelope, received, ${["payload", "received_payload", "seal"].map(bytes).join(", ")}
    FROM record JOIN content USING (number) WHERE number = ?`);
  const queue = db.prepare(`
    SELECT ${QUEUE} FROM (${UNFINISHED} AND number > ? AND number <= ? ORDER BY number LIMIT ?)
    LEFT JOIN record USING (number) ORDER BY number`);
  const unfinished = db.prepare(`${UNFINISHED} ORDER BY number LIMIT ?`);
  const head = db.prepare(`
    SELECT number, iif(typeof(id) = 'text', id, 'of number ' || number) AS id, ${TRIED}, ${whole("created_at")}, address, envelope
    FROM record JOIN content USING (number) WHERE number = ?`);
  const oldestCreatedAt = db.prepare(
    `SELECT ${whole("created_at")} FROM record WHERE number = (${UNFINISHED} ORDER BY number LIMIT 1)`,
  );
  const redriving = db.prepare("SELECT id FROM record WHERE entry_id = ? AND status = 0 LIMIT 1");
  const finishedBefore = db.prepare("SELECT number FROM record WHERE finished_at < ? ORDER BY finished_at LIMIT ?");

  return {
    lanes: () => lanes.all() as never,
    depths: () => depths.all() as never,
    newest: () => numberOf(newest.get()),
    numbersFrom: (first) => numbersFrom.all(first).map(numberOf),
    byIdentity: (lane, identity) => byIdentity.get(lane, identity) as never,
    byId: (id) => byId.get(id) as never,
    stored: (number) => stored.get(number) as never,
    queue: (lane, after, upTo, limit) => queue.all(lane, after, upTo, limit) as never,
    unfinished: (lane, limit) => unfinished.all(lane, limit).map(numberOf),
    head: (number) => head.get(number) as never,
    oldestCreatedAt: (lane) => (oldestCreatedAt.get(lane) as { readonly created_at: number } | undefined)?.created_at,
    redriving: (entryId) => (redriving.get(entryId) as { readonly id: string } | undefined)?.id,
    finishedBefore: (time, limit) => finishedBefore.all(time, limit).map(numberOf),
  };
}

/** Of what somebody has put there that is no whole number which JavaScript has, the nearest one, or 0. */
function whole(column: string): string {
  const most = Number.MAX_SAFE_INTEGER;
  return `iif(typeof(${column}) = 'integer', min(max(${column}, -${most}), ${most}), 0) AS ${column}`;
}

/** What is no text, or no bytes, is none that was written. */
function text(column: string): string {
  return `iif(typeof(${column}) = 'text', ${column}, NULL) AS ${column}`;
}

function bytes(column: string): string {
  return `iif(typeof(${column}) = 'blob', ${column}, NULL) AS ${column}`;
}

function numberOf(row: unknown): number {
  return (row as { readonly number: number }).number;
}
