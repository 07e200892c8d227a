import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { FileDatabase } from "@bridge/file/internal";
import type { DlqJobs, Logger, StoredJob } from "@bridge/ports";
import { orAborted } from "@bridge/ports/internal";
import type { DlqTables } from "./dlq-tables.ts";
import { sealed, unsealed } from "./sealed.ts";

/** Somebody may have put something else in any place. */
interface JobRow {
  readonly id: string;
  readonly revision: unknown;
  readonly state: unknown;
  readonly created_at: unknown;
  /** Sealed, with all the rest. */
  readonly document: unknown;
}

/** What is no number that JavaScript has is none that was written. */
const NUMBERS = ["revision", "created_at"].map(
  (column) => `iif(abs(${column}) <= ${Number.MAX_SAFE_INTEGER}, ${column}, NULL) AS ${column}`,
);
const JOB = ["id", "state", "document", ...NUMBERS].join(", ");

/** What is asked of the jobs of a file. */
export class JobStatements {
  readonly #select: StatementSync;
  readonly #list: StatementSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #delete: StatementSync;

  constructor(db: DatabaseSync) {
    const newestFirst = "INDEXED BY dead_letter_job_by_time";
    this.#select = db.prepare(`SELECT ${JOB} FROM dead_letter_job WHERE id = ?`);
    this.#list = db.prepare(`
      SELECT ${JOB} FROM dead_letter_job ${newestFirst}
      WHERE ? IS NULL OR state IN (SELECT value FROM json_each(?)) ORDER BY created_at DESC, id DESC LIMIT ?`);
    this.#insert = db.prepare(`
      INSERT INTO dead_letter_job (revision, state, created_at, document, id) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (id) DO NOTHING`);
    this.#update = db.prepare(`
      UPDATE dead_letter_job SET revision = ?, state = ?, created_at = ?, document = ? WHERE id = ? AND revision = ?`);
    this.#delete = db.prepare("DELETE FROM dead_letter_job WHERE id = ?");
  }

  get(id: string): JobRow | undefined {
    return this.#select.get(id) as JobRow | undefined;
  }

  list(states: readonly string[] | undefined, limit: number): readonly JobRow[] {
    const wanted = states === undefined ? null : JSON.stringify(states);
    return this.#list.all(wanted, wanted, limit) as unknown as JobRow[];
  }

  /** What this job has thrown away is being taken back. */
  isUndoing(id: string): boolean {
    return this.get(id)?.state === "undoing";
  }

  put(job: StoredJob, expectedRevision: number | undefined): boolean {
    const { id, revision, state, createdAt, document } = job;
    const values = [revision, state, createdAt, sealed(ownerOf(job), document), id];
    const done =
      expectedRevision === undefined ? this.#insert.run(...values) : this.#update.run(...values, expectedRevision);
    return done.changes > 0;
  }

  delete(id: string): void {
    this.#delete.run(id);
  }
}

/** The jobs of a file. One that a disk has changed is handed out without its document. */
export function fileJobs(file: FileDatabase<DlqTables>, logger: Logger): DlqJobs {
  const told = new Set<string>();

  function jobOf(row: JobRow): StoredJob {
    const job = {
      id: row.id,
      revision: numberIn(row.revision),
      state: textIn(row.state),
      createdAt: numberIn(row.created_at),
    };
    const document = unsealed(ownerOf(job), row.document);
    if (document === undefined && !told.has(job.id)) {
      logger.error("a job of the DLQ is not as it was written: it is not gone on with", { job_id: job.id });
      told.add(job.id);
    }
    return { ...job, document: document ?? "" };
  }

  return {
    async get(id, signal) {
      signal.throwIfAborted();
      const row = file.read(({ jobs }) => jobs.get(id));
      return row && jobOf(row);
    },
    async list({ states, limit }, signal) {
      signal.throwIfAborted();
      const rows = file.read(({ jobs }) => jobs.list(states, limit));
      // Nobody can ask for one without an id.
      return rows.filter(({ id }) => typeof id === "string").map(jobOf);
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

function ownerOf({ id, revision, state, createdAt }: Omit<StoredJob, "document">): string {
  return JSON.stringify([id, revision, state, createdAt]);
}

function numberIn(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
