import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { FileDatabase } from "@bridge/file/internal";
import type { DlqJobs, StoredJob } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import { demandReadable } from "./demand-readable.ts";
import type { DlqTables } from "./dlq-tables.ts";
import { holdsBatch } from "./job-times.ts";
import { JOB_TEXTS, LegibleTexts } from "./legible-texts.ts";

/** The columns of a stored job. */
export const JOB = "id, revision, state, created_at AS createdAt, document";

/** What is asked of the jobs of a file. */
export class JobStatements {
  readonly #texts: LegibleTexts;
  readonly #select: StatementSync;
  readonly #list: StatementSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #holds: StatementSync;
  readonly #delete: StatementSync;

  constructor(db: DatabaseSync) {
    this.#texts = new LegibleTexts(db, "dead_letter_job", JOB_TEXTS);
    const newestFirst = "INDEXED BY dead_letter_job_by_time";
    this.#select = db.prepare(`SELECT ${JOB} FROM dead_letter_job WHERE id = ?`);
    this.#list = db.prepare(`
      SELECT ${JOB} FROM dead_letter_job ${newestFirst}
      WHERE ? IS NULL OR state IN (SELECT value FROM json_each(?)) ORDER BY dead_letter_job.created_at DESC, id DESC LIMIT ?`);
    this.#insert = db.prepare(`
      INSERT INTO dead_letter_job (revision, state, created_at, document, id) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING`);
    this.#update = db.prepare(`
      UPDATE dead_letter_job SET revision = ?, state = ?, created_at = ?, document = ? WHERE id = ? AND revision = ?`);
    this.#holds = db.prepare(`SELECT 1 FROM dead_letter_job WHERE ${holdsBatch("?1")} AND id = ?2`);
    this.#delete = db.prepare("DELETE FROM dead_letter_job WHERE id = ?");
  }

  get(id: string): StoredJob | undefined {
    return demandReadable(this.#select.all(id) as unknown as StoredJob[])[0];
  }

  list(states: readonly string[] | undefined, limit: number): readonly StoredJob[] {
    const wanted = states === undefined ? null : JSON.stringify(states);
    return this.#texts.demand(demandReadable(this.#list.all(wanted, wanted, limit) as unknown as StoredJob[]));
  }

  /** What this job has thrown away is in time at `now`, whatever stands beside it. */
  holdsBatch(id: string, now: number): boolean {
    return this.#holds.get(now, id) !== undefined;
  }

  put(job: StoredJob, expectedRevision: number | undefined): boolean {
    const { id, revision, state, createdAt, document } = job;
    const values = [revision, state, createdAt, document, id];
    const done =
      expectedRevision === undefined ? this.#insert.run(...values) : this.#update.run(...values, expectedRevision);
    return done.changes > 0;
  }

  delete(id: string): void {
    this.#delete.run(id);
  }
}

/** The jobs of a file. */
export function fileJobs(file: FileDatabase<DlqTables>): DlqJobs {
  return {
    async get(id, signal) {
      signal.throwIfAborted();
      return file.reading(() => file.read(({ jobs }) => jobs.get(id)), signal);
    },
    async list({ states, limit }, signal) {
      signal.throwIfAborted();
      return file.reading(() => file.read(({ jobs }) => jobs.list(states, limit)), signal);
    },
    put(job, expectedRevision, signal) {
      return write(job.document.length, (jobs) => jobs.put(job, expectedRevision), signal);
    },
    async delete(ids, signal) {
      await write(0, (jobs) => ids.forEach((id) => jobs.delete(id)), signal);
    },
  };

  /** A file that is full is emptied by a job: what is kept of jobs is let through. */
  async function write<Result>(
    bytes: number,
    run: (jobs: JobStatements) => Result,
    signal: AbortSignal,
  ): Promise<Result> {
    signal.throwIfAborted();
    return orAborted(file.write({ bytes, frees: true, run: ({ jobs }) => run(jobs) }), signal);
  }
}
