import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import {
  type DeadLetterFilter,
  type DeadLetterMarks,
  type DeadLetterOrder,
  type DeadLetterPosition,
  type DeadLetterQuery,
  type KeyedPage,
  type MarkChange,
  marked,
  mergedMarks,
  type Page,
} from "@bridge/ports";
import type { FacetLine } from "@bridge/ports/internal";
import {
  type EntryRow,
  type HeadRow,
  type MarksRow,
  marksText,
  marksToChange,
  type NewRow,
  positionOf,
  type Remarked,
} from "./dead-letter-row.ts";
import { demandReadable } from "./demand-readable.ts";
import { INDEXES } from "./dlq-file-kind.ts";
import { type CountedGroup, type CountedRow, type CountedStretch, HOUR_MS } from "./entry-counts.ts";
import { indexRange, isLookedFor, type RangeOptions } from "./entry-index.ts";
import { IS_KEPT_BACK, isKeptBack } from "./kept-back.ts";
import { ENTRY_TEXTS, LegibleTexts } from "./legible-texts.ts";

const LINE = "route_id, binding_id, category, error_code, fingerprint";
const COLUMNS = `id, failed_at, ${LINE}`;
/** Of a row that is read itself. */
export const COUNTED = `${COLUMNS}, (${IS_KEPT_BACK}) AS quarantined`;
/** Of a key in the index of all: which are quarantined is looked up in that of those. */
const QUARANTINED = `EXISTS (
  SELECT 1 FROM dead_letter AS kept INDEXED BY ${INDEXES.quarantined}
  WHERE ${IS_KEPT_BACK} AND kept.failed_at = dead_letter.failed_at AND kept.id = dead_letter.id)`;
/** What is no bytes is none that was written. */
const BYTES = "iif(typeof(payload) = 'blob', payload, NULL) AS payload";
const HEAD = `${COUNTED}, marks, head`;
/** SQLite rounds towards zero. */
const HOUR = `failed_at / ${HOUR_MS} - (failed_at < 0 AND failed_at % ${HOUR_MS} <> 0)`;

/** So many keys are gone through at a time, which takes some milliseconds. */
const MAX_KEYS = 10_000;

interface HeadRows {
  readonly rows: readonly HeadRow[];
  /** Behind which there may be more. */
  readonly next: DeadLetterPosition | undefined;
}

/** What is not, or not all, answered of a line by an index. */
const OF_LINE = "AND route_id = ? AND binding_id = ? AND category = ? AND error_code = ? AND fingerprint = ? ORDER BY";

/** What is asked of the entries of a file. Statements with a filter are made when they are first needed, one for each combination. */
export class DlqStatements {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #select: StatementSync;
  readonly #count: StatementSync;
  readonly #delete: StatementSync;
  readonly #deleteById: StatementSync;
  readonly #selectMarks: StatementSync;
  readonly #selectCounted: StatementSync;
  readonly #updateMarks: StatementSync;
  readonly #texts: LegibleTexts;
  readonly #filtered = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#texts = new LegibleTexts(db, "dead_letter", ENTRY_TEXTS);
    this.#insert = db.prepare(`
      INSERT INTO dead_letter (${COLUMNS}, envelope_key, correlation_key, head, envelope, payload)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`);
    this.#select = db.prepare(`SELECT ${HEAD}, envelope, ${BYTES} FROM dead_letter WHERE id = ?`);
    this.#count = db.prepare("SELECT count(*) AS count FROM (SELECT 1 FROM dead_letter LIMIT ?)");
    this.#delete = db.prepare(`DELETE FROM dead_letter WHERE number = ? RETURNING ${COUNTED}`);
    this.#deleteById = db.prepare(`DELETE FROM dead_letter WHERE id = ? RETURNING ${COUNTED}`);
    this.#selectMarks = db.prepare("SELECT id, marks FROM dead_letter WHERE id = ?");
    this.#selectCounted = db.prepare(`SELECT ${COUNTED} FROM dead_letter WHERE id = ?`);
    this.#updateMarks = db.prepare("UPDATE dead_letter SET marks = ? WHERE id = ?");
  }

  /** False when its id is there already. */
  insert({ counted, envelopeKey, correlationKey, head, envelope, payload }: NewRow): boolean {
    const { id, failed_at, route_id, binding_id, category, error_code, fingerprint } = counted;
    const known = [id, failed_at, route_id, binding_id, category, error_code, fingerprint];
    return this.#insert.run(...known, envelopeKey, correlationKey, head, envelope, payload).changes > 0;
  }

  get(id: string): EntryRow | undefined {
    return demandReadable(this.#select.all(id) as unknown as EntryRow[])[0];
  }

  count(cap: number): number {
    return (this.#count.get(cap) as { readonly count: number }).count;
  }

  delete(number: number): CountedRow | undefined {
    return demandReadable(this.#delete.all(number) as unknown as CountedRow[])[0];
  }

  deleteById(id: string): CountedRow | undefined {
    return demandReadable(this.#deleteById.all(id) as unknown as CountedRow[])[0];
  }

  /** `undefined` when it is not there. */
  mark(id: string, change: MarkChange): Remarked | undefined {
    return this.#remark(id, (marks) => marked(marks, change));
  }

  /** Adds the marks of an entry of the same id to those of the one that is there. `undefined` when there are none. */
  merge(back: MarksRow): Remarked | undefined {
    return back.marks === null ? undefined : this.#remark(back.id, (marks) => mergedMarks(marks, marksToChange(back)));
  }

  #remark(
    id: string,
    change: (marks: DeadLetterMarks | undefined) => DeadLetterMarks | undefined,
  ): Remarked | undefined {
    const row = this.#selectMarks.get(id) as MarksRow | undefined;
    if (row === undefined) return undefined;
    const marks = marksText(id, change(marksToChange(row)));
    // Most marks are those of redrives that failed, which count as before.
    const isCounted = isKeptBack(row.marks) !== isKeptBack(marks);
    const [was] = isCounted ? demandReadable(this.#selectCounted.all(id) as unknown as CountedRow[]) : [];
    this.#updateMarks.run(marks, id);
    return was === undefined ? { id } : { id, was, is: { ...was, quarantined: 1 - was.quarantined } };
  }

  /** Oldest first. The page is found in an index alone; only its own entries are read. */
  list(filter: DeadLetterFilter, { limit, offset }: Page): readonly HeadRow[] {
    const { sql, values } = indexRange(filter);
    const list = `
      SELECT ${HEAD} FROM dead_letter
      WHERE number IN (SELECT number FROM dead_letter ${sql} LIMIT ? OFFSET ?) ORDER BY failed_at, id`;
    return this.#entries(list, ...values, atMost(limit), atMost(offset)) as HeadRow[];
  }

  /** Up to `limit` heads, in the order of the page. */
  heads(query: DeadLetterQuery, page: Pick<KeyedPage, "order" | "after">, limit: number): HeadRows {
    const upTo = isLookedFor(query) ? this.#keysAhead(query, page) : undefined;
    const { sql, values } = indexRange(query, { ...page, upTo });
    const rows = this.#entries(`SELECT ${HEAD} FROM dead_letter ${sql} LIMIT ?`, ...values, limit) as HeadRow[];
    const last = rows.at(-1);
    return { rows, next: last !== undefined && rows.length === limit ? positionOf(last) : upTo };
  }

  /** Where as many keys end as may be gone through at a time; `undefined` when there are not so many. */
  #keysAhead({ since, before }: DeadLetterQuery, page: RangeOptions, count = MAX_KEYS): DeadLetterPosition | undefined {
    const { sql, values } = indexRange({ since, before }, page);
    const ahead = `SELECT ${COLUMNS} FROM dead_letter ${sql} LIMIT 1 OFFSET ?`;
    const [row] = this.#entries(ahead, ...values, count) as Omit<CountedRow, "quarantined">[];
    return row && positionOf(row);
  }

  /**
   * So many entries, or one more, added up behind a position, of those that failed before a time: from indexes alone, and by SQLite, as
   * most are alike.
   */
  stretch(after: DeadLetterPosition, count: number, before = Infinity): CountedStretch {
    const range = { after: after.failedAt === -Infinity ? undefined : after };
    const query = before === Infinity ? {} : { before };
    const upTo = this.#keysAhead(query, range, count);
    const { sql, values } = indexRange(query, { ...range, upTo });
    const groups = `
      SELECT ${LINE}, ${QUARANTINED} AS quarantined, count(*) AS count, min(failed_at) AS oldest, max(failed_at) AS newest
      FROM dead_letter ${sql.replace(/ORDER BY.*/, `GROUP BY ${LINE}, quarantined, ${HOUR}`)}`;
    return { groups: this.#read(groups, ...values) as CountedGroup[], upTo };
  }

  /** The oldest or the newest of a line. */
  ofLine(
    { routeId, bindingId, category, errorCode, fingerprint }: FacetLine,
    { since, before, quarantined }: Pick<DeadLetterQuery, "since" | "before" | "quarantined">,
    order: DeadLetterOrder,
  ): HeadRow | undefined {
    const { sql, values } = indexRange({ fingerprint, since, before, quarantined }, { order });
    const free = quarantined === false ? `AND NOT (${IS_KEPT_BACK})` : "";
    const first = `SELECT ${HEAD} FROM dead_letter ${sql.replace("ORDER BY", `${free} ${OF_LINE}`)} LIMIT 1`;
    const line = [routeId, bindingId, category, errorCode, fingerprint];
    return this.#entries(first, ...values, ...line)[0] as HeadRow | undefined;
  }

  /** The numbers of the oldest. */
  oldest(filter: DeadLetterFilter, limit: number): readonly number[] {
    const { sql, values } = indexRange(filter);
    const rows = this.#read(`SELECT number FROM dead_letter ${sql} LIMIT ?`, ...values, limit);
    return (rows as { readonly number: number }[]).map(({ number }) => number);
  }

  #entries(sql: string, ...values: readonly SQLInputValue[]): readonly unknown[] {
    return this.#texts.demand(this.#read(sql, ...values));
  }

  #read(sql: string, ...values: readonly SQLInputValue[]): readonly unknown[] {
    let statement = this.#filtered.get(sql);
    if (statement === undefined) this.#filtered.set(sql, (statement = this.#db.prepare(sql)));
    return demandReadable(statement.all(...values));
  }
}

/** SQLite counts in integers. */
function atMost(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER);
}
