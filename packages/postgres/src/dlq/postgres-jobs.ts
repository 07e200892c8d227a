import type { DlqJobs, StoredJob } from "@bridge/ports";
import type { PostgresClient } from "../client/postgres-client.ts";
import type { Changes } from "./changes.ts";
import { isPossible } from "./dead-letter-row.ts";
import { JOBS } from "./dlq-tables.ts";

const WRITING = "writing a job";
const COLUMNS = "id, revision, state, created_at, document";
/** Beyond it JavaScript has no whole numbers. */
const MOST = Number.MAX_SAFE_INTEGER;
/** Somebody may have put there what is no revision, or has none after it: it is read as 0, so that the job can be written again. The engine finds that it was not sealed with these. */
const REVISION = `CASE WHEN revision BETWEEN 1 AND ${MOST - 1} THEN revision ELSE 0 END`;
const CREATED_AT = `greatest(-${MOST}, least(${MOST}, created_at))`;
/** A stored job. */
export const ROW = `id, ${REVISION} AS revision, state, ${CREATED_AT} AS "createdAt", document`;

/** Jobs in a table: of writers who race for a revision one is told that it has written, also when answers are lost. */
export class PostgresJobs implements DlqJobs {
  readonly #client: PostgresClient;
  readonly #changes: Changes;
  readonly #jobs: string;

  constructor(client: PostgresClient, changes: Changes) {
    this.#client = client;
    this.#changes = changes;
    this.#jobs = client.table(JOBS);
  }

  async get(id: string, signal: AbortSignal): Promise<StoredJob | undefined> {
    signal.throwIfAborted();
    if (!isPossible(id)) return undefined;
    const text = `SELECT ${ROW} FROM ${this.#jobs} WHERE id = $1`;
    const { rows } = await this.#client.query<StoredJob>({ what: "reading a job", text, values: [id] }, signal);
    return rows[0];
  }

  async list({ states, limit }: Parameters<DlqJobs["list"]>[0], signal: AbortSignal): Promise<readonly StoredJob[]> {
    const text = `SELECT ${ROW} FROM ${this.#jobs} AS jobs WHERE $1::text[] IS NULL OR state = ANY($1)
      ORDER BY jobs.created_at DESC, id DESC LIMIT $2`;
    const statement = { what: "listing jobs", text, values: [states ?? null, limit] };
    return (await this.#client.query<StoredJob>(statement, signal)).rows;
  }

  async put(job: StoredJob, expectedRevision: number | undefined, signal: AbortSignal): Promise<boolean> {
    const { id, revision, state, createdAt, document } = job;
    const values = [id, revision, state, createdAt, document];
    if (expectedRevision === undefined) return this.#insert(values, signal);
    const queries = `picked AS MATERIALIZED (
        SELECT id FROM ${this.#jobs} WHERE id = $1 AND ${REVISION} = $6 FOR UPDATE
      ), changed AS (
        UPDATE ${this.#jobs} SET (revision, state, created_at, document) = ($2::bigint, $3, $4::bigint, $5)
         WHERE id IN (SELECT id FROM picked) RETURNING id
      )`;
    const change = { what: WRITING, queries, values: [...values, expectedRevision], lasting: true };
    return (await this.#changes.make(change, signal)).length > 0;
  }

  async delete(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const text = `DELETE FROM ${this.#jobs} WHERE id = ANY($1)`;
    await this.#client.query({ what: "deleting jobs", text, values: [ids.filter(isPossible)] }, signal);
  }

  async #insert(values: readonly unknown[], signal: AbortSignal): Promise<boolean> {
    const queries = `changed AS (
        INSERT INTO ${this.#jobs} (${COLUMNS}) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO NOTHING RETURNING id
      ), picked AS (
        SELECT id FROM changed
      )`;
    const made = await this.#changes.make({ what: WRITING, queries, values, lasting: true }, signal);
    if (made.length > 0) return true;
    // Something else than a job that is there may be in its way.
    const there = { what: WRITING, text: `SELECT 1 FROM ${this.#jobs} WHERE id = $1`, values: [values[0]] };
    if ((await this.#client.query(there, signal)).count === 0) throw this.#client.keptNothing(WRITING);
    return false;
  }
}
