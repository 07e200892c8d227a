import { type Clock, type OutboxRecord } from "@bridge/ports";
import { ownCopy, payloadBytes } from "@bridge/ports/internal";
import { type Entry, entryOf } from "./entry.ts";
import type { Lane } from "./lane.ts";
import type { Loans } from "./loans.ts";
import type { QueueRow, ReadingStatements } from "./reading-statements.ts";
import { recordOf } from "./record-rows.ts";
import type { SpoiledRecords } from "./spoiled-records.ts";

/** How much of an outbox is kept in memory. */
export interface WindowLimits {
  /** A new record enters the queue of its binding at once while that is shorter than this; else it waits in the file. */
  readonly queueLength: number;
  /** No queue gets longer, even when all in it have to wait; younger records then wait with them. */
  readonly maxQueueLength: number;
  /** So many entries are fetched from the file at a time. */
  readonly chunk: number;
  /** What all records in memory may take; each binding has its share. Others are read when they are lent. */
  readonly contentBytes: number;
}

export const WINDOW_LIMITS: WindowLimits = {
  queueLength: 10_000,
  maxQueueLength: 100_000,
  chunk: 1_000,
  contentBytes: 32 * 1024 * 1024,
};

/** What a record takes in memory besides its payloads. */
const RECORD_BYTES = 1_000;

/** How much of the file is in memory: the oldest of each lane, the newest with their contents as long as there is room. */
export class Window {
  readonly #loans: Loans;
  readonly #spoiled: SpoiledRecords;
  readonly #limits: WindowLimits;
  readonly #clock: Clock;
  /** When the file was opened, by the time of day and by the clock that nobody sets. */
  #opened = { now: 0, monotonic: 0 };
  /** The highest number of a durable record. */
  #newest = 0;
  /** The highest number that has been given. */
  #given = 0;

  constructor(loans: Loans, spoiled: SpoiledRecords, limits: WindowLimits, clock: Clock) {
    this.#loans = loans;
    this.#spoiled = spoiled;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** After the file has been opened. */
  reset(newest: number): void {
    this.#opened = { now: this.#clock.now(), monotonic: this.#clock.monotonic() };
    this.#newest = newest;
    this.#given = Math.max(this.#given, newest);
  }

  /** The first of so many for new records; one that is not used after all leaves a gap. */
  nextNumbers(count: number): number {
    const first = this.#given + 1;
    this.#given += count;
    return first;
  }

  isDurable(number: number): boolean {
    return number <= this.#newest;
  }

  /** A record has become durable. `lanes` is how many share the room. */
  arrived(lane: Lane, number: number, record: OutboxRecord, lanes: number): void {
    this.#newest = number;
    lane.depth++;
    if (!lane.complete) return;
    if (lane.queue.size >= this.#limits.queueLength) {
      lane.complete = false;
      return;
    }
    lane.edge = number;
    const entry = entryOf({ number, id: record.id, key: record.orderingKey, attempts: 0, dueAt: 0 });
    const bytes = RECORD_BYTES + payloadBytes(record);
    if (lane.contentBytes + bytes <= this.#limits.contentBytes / lanes) {
      entry.content = ownCopy(record);
      lane.contentBytes += bytes;
    }
    lane.queue.add(entry, 0);
  }

  /** Whether the queue could be longer. */
  canExtend(lane: Lane): boolean {
    return !lane.complete && lane.queue.size < this.#limits.maxQueueLength;
  }

  /** Fetches more of a lane from the file. */
  extend(lane: Lane, statements: ReadingStatements): void {
    const { chunk } = this.#limits;
    const rows = statements.queue(lane.number, lane.edge, this.#newest, chunk);
    for (const row of rows) {
      if (row.id === null) this.#spoiled.found({ number: row.number, id: `of number ${row.number}` }, lane);
      else lane.queue.add(this.entryFor(lane, row), this.#clock.monotonic());
    }
    lane.complete = rows.length < chunk;
    lane.edge = lane.complete ? this.#newest : (rows.at(-1)?.number ?? this.#newest);
  }

  /** What is known in memory of an unfinished record, or else what the file says of it. */
  entryFor(lane: Lane, row: QueueRow): Entry {
    const { number, id, ordering_key: key, attempts } = row;
    return (
      lane.queue.get(number) ??
      this.#loans.of(number)?.entry ??
      entryOf({ number, id, key: key ?? undefined, attempts, dueAt: this.#dueAt(row) })
    );
  }

  /**
   * The record of an entry; `undefined` when what the file has is not what was written. It is not kept in memory after
   * that: it is on its way.
   */
  contentOf(lane: Lane, entry: Entry, statements: ReadingStatements): OutboxRecord | undefined {
    const { content } = entry;
    if (content !== undefined) {
      entry.content = undefined;
      lane.contentBytes -= RECORD_BYTES + payloadBytes(content);
      return content;
    }
    const row = statements.stored(entry.number);
    return row === undefined || row.id !== entry.id ? undefined : recordOf(row, lane.routeId, lane.bindingId);
  }

  /**
   * When a record is due of which only the file tells: never later than its delay after the file was opened, however
   * the clock was set before, and whatever becomes of the clock after that.
   */
  #dueAt({ due_at: dueAt, retry_delay: delayMs }: QueueRow): number {
    return this.#opened.monotonic + Math.max(0, Math.min(dueAt - this.#opened.now, delayMs));
  }
}
