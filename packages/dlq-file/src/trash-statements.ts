import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { StoredJob } from "@bridge/ports";
import { unsealJob } from "@bridge/ports/internal";
import type { MarksRow } from "./dead-letter-row.ts";
import { demandReadable } from "./demand-readable.ts";
import { COLUMNS } from "./dlq-file-kind.ts";
import { COUNTED } from "./dlq-statements.ts";
import type { CountedRow } from "./entry-counts.ts";
import { JOB } from "./file-jobs.ts";
import { holdsBatch, isLongOver } from "./job-times.ts";
import { MOST, NEW_ID, saysId, SOUND } from "./sound-columns.ts";

/** So many of those whose number is greater than one; `last` is the number to go on after, and `null` when there were none. */
export interface TrashStretch {
  readonly count: number;
  readonly last: number | null;
}

interface FormerRow extends MarksRow {
  readonly number: number;
}

const SOUND_COLUMNS = COLUMNS.split(",")
  .map((column) => column.trim())
  .map((column) => SOUND[column as keyof typeof SOUND] ?? column);
const RENAMED_COLUMNS = SOUND_COLUMNS.map((column) => (column === SOUND.id ? NEW_ID : column));

/** What is asked of the trash of a file. A row goes there and comes back as it is, column by column, as far as it can be read. */
export class TrashStatements {
  readonly #move: StatementSync;
  readonly #restore: StatementSync;
  readonly #restoreRenamed: StatementSync;
  readonly #isAgain: StatementSync;
  readonly #rename: StatementSync;
  readonly #marksOf: StatementSync;
  readonly #former: StatementSync;
  readonly #batch: StatementSync;
  readonly #over: StatementSync;
  readonly #longOver: StatementSync;
  readonly #delete: StatementSync;
  readonly #deleteById: StatementSync;
  readonly #ends: StatementSync;
  readonly #untilAt: StatementSync;
  readonly #countBetween: StatementSync;
  readonly #countAt: StatementSync;
  readonly #countBatch: StatementSync;

  constructor(db: DatabaseSync) {
    this.#move = db.prepare(`
      INSERT OR REPLACE INTO dead_letter_trash (batch, until, ${COLUMNS})
      SELECT ?, min(?, failed_at + ?), ${COLUMNS} FROM dead_letter WHERE id = ?`);
    const restore = (columns: readonly string[]): StatementSync =>
      db.prepare(`
        INSERT INTO dead_letter (${COLUMNS}) SELECT ${columns.join(", ")} FROM dead_letter_trash WHERE number = ?
        ON CONFLICT (id) DO NOTHING RETURNING ${COUNTED}`);
    this.#restore = restore(SOUND_COLUMNS);
    this.#restoreRenamed = restore(RENAMED_COLUMNS);
    this.#isAgain = db.prepare(`
      SELECT ${saysId("trash")} AND ${saysId("there")} AS again
      FROM dead_letter_trash AS trash JOIN dead_letter AS there ON there.id = trash.id WHERE trash.number = ?`);
    this.#rename = db.prepare(`UPDATE dead_letter_trash SET id = ${NEW_ID} WHERE number = ?`);
    this.#marksOf = db.prepare("SELECT id, marks FROM dead_letter_trash WHERE number = ?");
    this.#former = db.prepare(`
      SELECT number, id, marks FROM dead_letter_trash WHERE batch = ? AND id = ? AND until > ?`);
    // In the order in which they came: those that are next to each other in the list come back next to each other.
    this.#batch = db.prepare(`
      SELECT number FROM dead_letter_trash INDEXED BY dead_letter_trash_by_batch
      WHERE batch = ? AND until > ? ORDER BY number LIMIT ?`);
    const jobs = "SELECT id FROM dead_letter_job WHERE id IS NOT NULL AND";
    this.#over = db.prepare(`
      SELECT number FROM dead_letter_trash INDEXED BY dead_letter_trash_by_end
      WHERE until <= ?1 AND batch NOT IN (${jobs} state = 'undoing')
        AND (failed_at <= ?2 OR batch NOT IN (${jobs} ${holdsBatch("?1")})) LIMIT ?3`);
    // What no store can have written has no seal that holds.
    const isReadable = ["revision", "created_at"]
      .map((column) => `${column} BETWEEN -${MOST} AND ${MOST}`)
      .join(" AND ");
    this.#longOver = db.prepare(`
      SELECT ${JOB} FROM dead_letter_job WHERE ${isReadable} AND ${isLongOver("?1")}
        AND EXISTS (SELECT 1 FROM dead_letter_trash WHERE batch = dead_letter_job.id)`);
    this.#delete = db.prepare("DELETE FROM dead_letter_trash WHERE number = ?");
    // Batches are few, and an id is found in each by what keeps it there once: an index by ids alone would cost each entry that is moved.
    this.#deleteById = db.prepare(`
      WITH RECURSIVE batches (batch) AS (
        SELECT min(batch) FROM dead_letter_trash
        UNION ALL
        SELECT (SELECT min(batch) FROM dead_letter_trash AS next WHERE next.batch > batches.batch)
          FROM batches WHERE batches.batch IS NOT NULL
      )
      DELETE FROM dead_letter_trash WHERE number IN (
        SELECT trash.number FROM batches CROSS JOIN dead_letter_trash AS trash
         WHERE trash.batch = batches.batch AND trash.id = ? AND ${saysId("trash")})`);
    this.#ends = db.prepare(`
      SELECT min(until) AS until FROM dead_letter_trash UNION ALL SELECT max(until) FROM dead_letter_trash`);
    this.#untilAt = db.prepare(`
      SELECT until FROM dead_letter_trash INDEXED BY dead_letter_trash_by_end
      WHERE until > ? ORDER BY until LIMIT 1 OFFSET ?`);
    this.#countBetween = db.prepare(`
      SELECT count(*) AS count FROM dead_letter_trash INDEXED BY dead_letter_trash_by_end WHERE until > ? AND until < ?`);
    this.#countAt = db.prepare(`
      SELECT count(*) AS count, max(number) AS last FROM (
        SELECT number FROM dead_letter_trash INDEXED BY dead_letter_trash_by_end
        WHERE until = ? AND number > ? ORDER BY number LIMIT ?)`);
    this.#countBatch = db.prepare(`
      SELECT count(*) FILTER (WHERE until > ?) AS count, max(number) AS last FROM (
        SELECT number, until FROM dead_letter_trash INDEXED BY dead_letter_trash_by_batch
        WHERE batch = ? AND number > ? ORDER BY number LIMIT ?)`);
  }

  /** Copies an entry into it, if it is there. */
  copy(id: string, batch: string, until: number, retentionMs = Number.MAX_SAFE_INTEGER): void {
    this.#move.run(batch, until, retentionMs, id);
  }

  /**
   * Copies one back; `undefined` when the same entry is there again. If another one is there under its id, as somebody has changed
   * that of either, it gets a new id, under which it is spoiled: neither of them is the newer truth of the other.
   */
  restore(number: number): CountedRow | undefined {
    const row =
      this.#restore.get(number) ?? (this.isAgain(number) === true ? undefined : this.#restoreRenamed.get(number));
    return row as CountedRow | undefined;
  }

  /** Whether what the list has under its id is the same entry, too; `undefined`: it has none. */
  isAgain(number: number): boolean | undefined {
    const row = this.#isAgain.get(number) as { readonly again: number } | undefined;
    return row && row.again === 1;
  }

  rename(number: number): void {
    this.#rename.run(number);
  }

  marksOf(number: number): MarksRow {
    return this.#marksOf.get(number) as unknown as MarksRow;
  }

  /** What the batch has under this id, in time. */
  former(batch: string, id: string, now: number): FormerRow | undefined {
    return this.#former.get(batch, id, now) as FormerRow | undefined;
  }

  delete(number: number): void {
    this.#delete.run(number);
  }

  /** Of whatever batches have it; not another entry that somebody has given this id. */
  deleteById(id: string): void {
    this.#deleteById.run(id);
  }

  /** The numbers of those of a batch that are in time. */
  inTime(batch: string, now: number, limit: number): readonly number[] {
    this.demandTimes();
    return numbersIn(this.#batch.all(batch, now, limit));
  }

  /** The numbers of those that are over their time, and not being taken back; of a batch that its job holds, those that failed by `expired`. */
  over(now: number, expired: number, limit: number): readonly number[] {
    this.demandTimes();
    const over = numbersIn(this.#over.all(now, expired, limit));
    return over.length > 0 ? over : this.#ofLongOver(now, limit);
  }

  /** Of one batch at a time. */
  #ofLongOver(now: number, limit: number): readonly number[] {
    for (const job of this.#longOver.iterate(now) as Iterable<StoredJob>)
      if (unsealJob(job) !== undefined) return numbersIn(this.#batch.all(job.id, Number.MIN_SAFE_INTEGER, limit));
    return [];
  }

  /**
   * Each of them has a time at which it ends.
   *
   * @throws UnreadableRow
   */
  demandTimes(): void {
    const ends = this.#ends.all() as { readonly until: unknown }[];
    demandReadable(ends.filter(({ until }) => until !== null));
  }

  /** The end of the one that so many others are before, of those that end after `end`. */
  untilAt(end: number, nth: number): number | undefined {
    return (this.#untilAt.get(end, nth) as { readonly until: number } | undefined)?.until;
  }

  /** How many end between two times, without these. */
  countBetween(after: number, before: number): number {
    return (this.#countBetween.get(after, before) as { readonly count: number }).count;
  }

  /** Of those that end at one time, of as many as `limit`. */
  countAt(until: number, after: number, limit: number): TrashStretch {
    return this.#countAt.get(until, after, limit) as unknown as TrashStretch;
  }

  /** How many of a batch are in time, of as many as `limit`. */
  countBatch(batch: string, now: number, after: number, limit: number): TrashStretch {
    return this.#countBatch.get(now, batch, after, limit) as unknown as TrashStretch;
  }
}

function numbersIn(rows: unknown[]): readonly number[] {
  return (rows as { readonly number: number }[]).map(({ number }) => number);
}
