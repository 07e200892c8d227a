import type { Clock, DeadLetterMarks, DlqTrash, StoredJob, TakenBack } from "@bridge/ports";
import { unsealJob } from "@bridge/ports/internal";
import type { PostgresClient } from "../client/postgres-client.ts";
import type { Changes } from "./changes.ts";
import { isPossible } from "./dead-letter-row.ts";
import { chunksOf, ofIds, picked } from "./deleting.ts";
import { COLUMNS, ENTRIES, JOBS, NEW_ID, saysId, TRASH } from "./dlq-tables.ts";
import { bound } from "./filtered.ts";
import { HOLDS, IS_LONG_OVER, NOW } from "./job-times.ts";
import { marksOf } from "./kept-back.ts";
import type { Marking, MarksRow } from "./marking.ts";
import { ROW as STORED_JOB } from "./postgres-jobs.ts";

/** Entries of one statement. */
const CHUNK = 1_000;
const RESTORING = "restoring from the trash";
/** Jobs of one look. */
const MOST_JOBS = 1_000;
/** Before the id of an entry in the note of a call: what has become of it. */
const RESTORED = "+";
const PRESENT = "=";

/** Of rows of the trash and of the entries: both are of the entry whose id they have. */
const IS_AGAIN = `${saysId("trash")} AND ${saysId("there")}`;
const OTHER_COLUMNS = COLUMNS.replace(/^id, /, "");

interface OwnRow extends MarksRow {
  /** Whether it is the entry whose id it has, as far as it says. */
  readonly is_own: boolean;
}

interface TrashRow extends OwnRow {
  /** Another one after each change of the row. */
  readonly version: string;
}

/** What becomes of rows that are to come back. */
interface Fates {
  /** The same entries are there. */
  readonly present: readonly string[];
  /** Others are, or may be: they come back under new ids then. */
  readonly apart: readonly string[];
}

/** Entries that were deleted and can be taken back: rows that are moved to a table of their own, and back. */
export class Trash implements DlqTrash {
  readonly #client: PostgresClient;
  readonly #changes: Changes;
  readonly #marking: Marking;
  readonly #visibleFrom: () => number;
  readonly #clock: Clock;

  /** Entries that failed before `visibleFrom` are not there. */
  constructor(
    {
      client,
      changes,
      marking,
    }: { readonly client: PostgresClient; readonly changes: Changes; readonly marking: Marking },
    visibleFrom: () => number,
    clock: Clock,
  ) {
    this.#client = client;
    this.#changes = changes;
    this.#marking = marking;
    this.#visibleFrom = visibleFrom;
    this.#clock = clock;
  }

  async move(ids: readonly string[], batch: string, until: number, signal: AbortSignal): Promise<ReadonlySet<string>> {
    signal.throwIfAborted();
    const [entries, trash] = [ENTRIES, TRASH].map((name) => this.#client.table(name));
    const moved = new Set<string>();
    for (const chunk of chunksOf(ids)) {
      await this.#mergeFormer(batch, chunk, signal);
      const which = ofIds(chunk, this.#visibleFrom());
      const [name, end] = [1, 2].map((n) => `$${which.values.length + n}`);
      // Of a batch that has an entry of the same id already, the later one is kept.
      const queries = `${picked(entries ?? "", which)}, gone AS (
          DELETE FROM ${entries} WHERE id IN (SELECT id FROM picked) RETURNING ${COLUMNS}
        ), changed AS (
          INSERT INTO ${trash} (batch, until, ${COLUMNS}) SELECT ${name}, ${NOW} + ${end}::bigint, ${COLUMNS} FROM gone
          ON CONFLICT (batch, id) DO UPDATE SET (until, ${COLUMNS}) = (${excluded(`until, ${COLUMNS}`)}) RETURNING id
        )`;
      const values = [...which.values, batch, bound(until - this.#clock.now())];
      const change = { what: "moving to the trash", queries, values, whole: true };
      for (const id of await this.#changes.make(change, signal)) moved.add(id);
    }
    return moved;
  }

  /** Of what is to replace entries of the same batch: adds the marks of those. Another entry that has such an id keeps its place. */
  async #mergeFormer(batch: string, ids: readonly string[], signal: AbortSignal): Promise<void> {
    if (!isPossible(batch)) return;
    const [entries, trash] = [ENTRIES, TRASH].map((name) => this.#client.table(name));
    const text = `SELECT trash.id, trash.marks, ${IS_AGAIN} AS is_own FROM ${trash} AS trash JOIN ${entries} AS there USING (id)
      WHERE trash.batch = $1 AND trash.id = ANY($2) AND ${this.#inTimeOf("$1")} AND (trash.marks IS NOT NULL OR NOT (${IS_AGAIN}))`;
    const values = [batch, ids];
    const { rows } = await this.#client.query<OwnRow>({ what: "reading the trash", text, values }, signal);
    await this.#marking.merge(marksById(rows.filter((row) => row.is_own)), signal);
    const others = rows.filter((row) => !row.is_own).map(({ id }) => id);
    if (others.length === 0) return;
    const renaming = `UPDATE ${trash} SET id = ${NEW_ID} WHERE batch = $1 AND id = ANY($2)`;
    await this.#client.query(
      { what: "keeping an entry of the trash", text: renaming, values: [batch, others] },
      signal,
    );
  }

  async restore(batch: string, limit: number, signal: AbortSignal): Promise<TakenBack> {
    signal.throwIfAborted();
    let restored = 0;
    let present = 0;
    let before: readonly string[] = [];
    while (isPossible(batch) && restored + present < limit) {
      const size = Math.min(CHUNK, limit - restored - present);
      const rows = await this.#inTime(batch, size, signal);
      if (rows.length === 0) break;
      const own = rows.filter((row) => row.is_own);
      const there = await this.#marking.merge(marksById(own), signal);
      const others = there.size === 0 ? there : await this.#others([...there], signal);
      const foreign = rows.filter((row) => !row.is_own).map(({ id }) => id);
      const fates = { present: [...there].filter((id) => !others.has(id)), apart: [...foreign, ...others] };
      const out = await this.#takeOut(batch, rows, fates, signal);
      restored += out.restored;
      present += out.present;
      // What has neither come back nor is there, twice, is kept out by somebody else's trigger.
      const left = rows.map(({ id }) => id).filter((id) => !there.has(id));
      if (out.restored + out.present === 0 && there.size === 0 && left.join("\n") === before.join("\n"))
        throw this.#client.keptNothing(RESTORING);
      before = left;
      if (rows.length < size && out.restored + out.present === rows.length) break;
    }
    return { restored, present };
  }

  /** Of a batch: so many that are in time, with their marks. */
  async #inTime(batch: string, size: number, signal: AbortSignal): Promise<readonly TrashRow[]> {
    const text = `SELECT id, marks, xmin::text AS version, ${saysId("trash")} AS is_own
      FROM ${this.#client.table(TRASH)} AS trash WHERE batch = $1 AND ${this.#inTimeOf("$1")} AND failed_at >= $2 ORDER BY id LIMIT $3`;
    const values = [batch, bound(this.#visibleFrom()), size];
    return (await this.#client.query<TrashRow>({ what: "reading the trash", text, values }, signal)).rows;
  }

  /** Of entries that are there: those that somebody has given the id of another one. */
  async #others(ids: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
    const text = `SELECT id FROM ${this.#client.table(ENTRIES)} AS there WHERE id = ANY($1) AND NOT ${saysId("there")}`;
    const { rows } = await this.#client.query<{ id: string }>({ what: RESTORING, text, values: [ids] }, signal);
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Those that are not `present` come back; the others only leave the trash, as the entries there have their marks. What has been moved
   * there anew, or written again, since it was looked stays in the trash, for the next look.
   */
  async #takeOut(
    batch: string,
    rows: readonly TrashRow[],
    { present, apart }: Fates,
    signal: AbortSignal,
  ): Promise<TakenBack> {
    const [entries, trash] = [ENTRIES, TRASH].map((name) => this.#client.table(name));
    const queries = `locked AS MATERIALIZED (
        SELECT ${COLUMNS} FROM ${trash}
         WHERE batch = $1 AND id = ANY($2) AND (id, xmin::text) IN (SELECT * FROM unnest($2::text[], $3::text[]))
         ORDER BY id FOR UPDATE
      ), coming AS MATERIALIZED (
        SELECT locked.*, CASE WHEN id = ANY($6) AND EXISTS (
          SELECT 1 FROM ${entries} AS there WHERE there.id = locked.id AND there.failed_at >= $5
        ) THEN ${NEW_ID} ELSE id END AS becomes FROM locked WHERE NOT id = ANY($4)
      ), restored AS (
        INSERT INTO ${entries} AS there (${COLUMNS}) SELECT becomes, ${OTHER_COLUMNS} FROM coming
        ON CONFLICT (id) DO UPDATE SET (${COLUMNS}) = (${excluded(COLUMNS)}) WHERE there.failed_at < $5 RETURNING id
      ), picked AS (
        SELECT id, '${RESTORED}' || id AS told FROM coming WHERE becomes IN (SELECT id FROM restored)
        UNION ALL SELECT id, '${PRESENT}' || id FROM locked WHERE id = ANY($4)
      ), gone AS (
        DELETE FROM ${trash} WHERE batch = $1 AND id IN (SELECT id FROM picked) RETURNING id
      ), changed AS (
        SELECT told AS id FROM picked WHERE id IN (SELECT id FROM gone)
      )`;
    const ids = rows.map(({ id }) => id);
    const versions = rows.map(({ version }) => version);
    const values = [batch, ids, versions, present, bound(this.#visibleFrom()), apart];
    const told = await this.#changes.make({ what: RESTORING, queries, values, whole: true }, signal);
    const back = told.filter((id) => id.startsWith(RESTORED)).length;
    return { restored: back, present: told.length - back };
  }

  async count(cap: number, signal: AbortSignal, batch?: string): Promise<number> {
    signal.throwIfAborted();
    if (batch !== undefined && !isPossible(batch)) return 0;
    const text = `SELECT count(*) AS count FROM (
      SELECT 1 FROM ${this.#client.table(TRASH)}
       WHERE ${batch === undefined ? `until > ${NOW}` : `batch = $2 AND ${this.#inTimeOf("$2")}`} LIMIT $1) AS counted`;
    const values = [cap, ...(batch === undefined ? [] : [batch])];
    const statement = { what: "counting the trash", text, values };
    return (await this.#client.query<{ count: number }>(statement, signal)).rows[0]?.count ?? 0;
  }

  /** What is over its time and not held by its job, and what its job cannot hold any more. */
  async erase(signal: AbortSignal): Promise<void> {
    const jobs = this.#client.table(JOBS);
    await this.#erase(`until <= ${NOW} AND batch NOT IN (SELECT id FROM ${jobs} WHERE ${HOLDS})`, signal);
    const over = await this.#longOver(signal);
    if (over.length > 0) await this.#erase("batch = ANY($1)", signal, [over]);
  }

  /** The batches of jobs that are so, and have something in the trash. */
  async #longOver(signal: AbortSignal): Promise<readonly string[]> {
    const [trash, jobs] = [TRASH, JOBS].map((name) => this.#client.table(name));
    const text = `SELECT ${STORED_JOB} FROM ${jobs} AS jobs
      WHERE ${IS_LONG_OVER} AND EXISTS (SELECT 1 FROM ${trash} WHERE batch = jobs.id) LIMIT ${MOST_JOBS}`;
    const { rows } = await this.#client.query<StoredJob>({ what: "emptying the trash", text }, signal);
    return rows.filter((job) => unsealJob(job) !== undefined).map(({ id }) => id);
  }

  async #erase(which: string, signal: AbortSignal, values: readonly unknown[] = []): Promise<void> {
    const trash = this.#client.table(TRASH);
    const text = `DELETE FROM ${trash} WHERE (batch, id) IN (
      SELECT batch, id FROM ${trash} WHERE ${which} LIMIT ${CHUNK} FOR UPDATE SKIP LOCKED)`;
    for (;;) if ((await this.#client.query({ what: "emptying the trash", text, values }, signal)).count < CHUNK) return;
  }

  /** Of a row of a batch: it is, as long as its job holds it. */
  #inTimeOf(batch: string): string {
    const jobs = this.#client.table(JOBS);
    return `(until > ${NOW} OR EXISTS (SELECT 1 FROM ${jobs} WHERE id = ${batch} AND ${HOLDS}))`;
  }
}

function marksById(rows: readonly MarksRow[]): ReadonlyMap<string, DeadLetterMarks | undefined> {
  return new Map(rows.map(({ id, marks }) => [id, marksOf(marks)]));
}

/** The same columns of the row that could not be inserted. */
export function excluded(columns: string): string {
  return columns.replaceAll(/\w+/g, "excluded.$&");
}
