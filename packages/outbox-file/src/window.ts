import { BridgeError, type OutboxRecord } from "@bridge/ports";
import { type Entry, entryOf } from "./entry.ts";
import type { Lane } from "./lane.ts";
import type { Loans } from "./loans.ts";
import type { QueueRow, ReadingStatements } from "./reading-statements.ts";
import { ownCopy, payloadBytes, recordOf } from "./record-rows.ts";

/** A new record enters the queue of its lane while that is no longer than this; else it waits in the file. */
const QUEUE_LENGTH = 10_000;
/** A queue in which everything has to wait gets no longer than this. */
const MAX_QUEUE_LENGTH = 100_000;
/** So many are fetched from the file at a time. */
const CHUNK = 1_000;
/** What all contents in memory may take; each lane has its share. */
const CONTENT_BYTES = 32 * 1024 * 1024;
/** A record without its payload. */
const RECORD_BYTES = 1_000;

/** How much of the file is in memory: the oldest of each lane, the newest with their contents as long as there is room. */
export class Window {
  readonly #loans: Loans;
  /** The highest number of a durable record. */
  #newest = 0;
  /** The highest number that has been given. */
  #given = 0;

  constructor(loans: Loans) {
    this.#loans = loans;
  }

  /** After the file has been opened. */
  reset(newest: number): void {
    this.#newest = newest;
    this.#given = Math.max(this.#given, newest);
  }

  /** For a new record; one that is not used after all leaves a gap. */
  nextNumber(): number {
    return ++this.#given;
  }

  isDurable(number: number): boolean {
    return number <= this.#newest;
  }

  /** A record has become durable. `lanes` is how many share the room. */
  arrived(lane: Lane, number: number, record: OutboxRecord, lanes: number): void {
    this.#newest = number;
    lane.depth++;
    if (!lane.complete) return;
    if (lane.queue.size >= QUEUE_LENGTH) {
      lane.complete = false;
      return;
    }
    lane.edge = number;
    const entry = entryOf({ number, id: record.id, key: record.orderingKey, attempts: 0, dueAt: 0 });
    const bytes = RECORD_BYTES + payloadBytes(record);
    if (lane.contentBytes + bytes <= CONTENT_BYTES / lanes) {
      entry.content = ownCopy(record);
      lane.contentBytes += bytes;
    }
    lane.queue.add(entry, 0);
  }

  /** Whether the queue could be longer. */
  canExtend(lane: Lane): boolean {
    return !lane.complete && lane.queue.size < MAX_QUEUE_LENGTH;
  }

  /** Fetches more of a lane from the file. */
  extend(lane: Lane, statements: ReadingStatements, now: number): void {
    const rows = statements.queue(lane.number, lane.edge, this.#newest, CHUNK);
    for (const row of rows) lane.queue.add(this.#loans.of(row.id)?.entry ?? toEntry(row), now);
    lane.complete = rows.length < CHUNK;
    lane.edge = lane.complete ? this.#newest : (rows.at(-1)?.number ?? this.#newest);
  }

  /** The record of an entry. It is not kept in memory after that: it is on its way. */
  contentOf(lane: Lane, entry: Entry, statements: ReadingStatements): OutboxRecord {
    const { content } = entry;
    if (content !== undefined) {
      entry.content = undefined;
      lane.contentBytes -= RECORD_BYTES + payloadBytes(content);
      return content;
    }
    const row = statements.stored(entry.number);
    if (row === undefined) throw new BridgeError("INTERNAL", `the outbox file has no content for record ${entry.id}`);
    return recordOf(row, lane.routeId, lane.bindingId);
  }
}

export function toEntry(row: QueueRow): Entry {
  const { number, id, ordering_key: key, attempts, due_at: dueAt } = row;
  return entryOf({ number, id, key: key ?? undefined, attempts, dueAt });
}
