import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { DeadLetterFilter, Page } from "@bridge/ports";
import type { EntryRow, HeadRow, RowValues } from "./dead-letter-row.ts";
import { INDEXES } from "./dlq-file-kind.ts";

/** What is asked of the file. Statements with a filter are made when they are first needed, one for each combination. */
export class DlqStatements {
  readonly #db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #select: StatementSync;
  readonly #count: StatementSync;
  readonly #delete: StatementSync;
  readonly #deleteById: StatementSync;
  readonly #filtered = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#insert = db.prepare(`
      INSERT INTO dead_letter (id, failed_at, route_id, category, head, envelope, payload)
      VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`);
    this.#select = db.prepare("SELECT * FROM dead_letter WHERE id = ?");
    this.#count = db.prepare("SELECT count(*) AS count FROM (SELECT 1 FROM dead_letter LIMIT ?)");
    this.#delete = db.prepare("DELETE FROM dead_letter WHERE number = ?");
    this.#deleteById = db.prepare("DELETE FROM dead_letter WHERE id = ?");
  }

  insert(values: RowValues): void {
    this.#insert.run(...values);
  }

  get(id: string): EntryRow | undefined {
    return this.#select.get(id) as EntryRow | undefined;
  }

  count(cap: number): number {
    return (this.#count.get(cap) as { readonly count: number }).count;
  }

  delete(number: number): void {
    this.#delete.run(number);
  }

  deleteById(id: string): boolean {
    return this.#deleteById.run(id).changes > 0;
  }

  /** Oldest first. The page is found in an index alone; only its own entries are read. */
  list(filter: DeadLetterFilter, { limit, offset }: Page): readonly HeadRow[] {
    const list = this.#withFilter(
      filter,
      (numbers) => `
        SELECT id, failed_at, route_id, category, head FROM dead_letter
        WHERE number IN (${numbers} LIMIT ? OFFSET ?) ORDER BY failed_at, id`,
    );
    return list.all(...valuesOf(filter), atMost(limit), atMost(offset)) as unknown as HeadRow[];
  }

  /** The numbers of the oldest. */
  oldest(filter: DeadLetterFilter, limit: number): readonly number[] {
    const oldest = this.#withFilter(filter, (numbers) => `${numbers} LIMIT ?`);
    return (oldest.all(...valuesOf(filter), limit) as { readonly number: number }[]).map(({ number }) => number);
  }

  #withFilter(filter: DeadLetterFilter, around: (numbers: string) => string): StatementSync {
    const sql = around(numbersOf(filter));
    let statement = this.#filtered.get(sql);
    if (statement === undefined) this.#filtered.set(sql, (statement = this.#db.prepare(sql)));
    return statement;
  }
}

/** The numbers of the entries that match, oldest first. */
function numbersOf({ routeId, category, since, before }: DeadLetterFilter): string {
  const conditions = [
    routeId !== undefined && "route_id = ?",
    category !== undefined && "category = ?",
    since !== undefined && "failed_at >= ?",
    before !== undefined && "failed_at < ?",
  ].filter((condition) => condition !== false);
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  // Named, so that no statistics of the file can lead to another one.
  const index =
    INDEXES[
      routeId === undefined ? (category === undefined ? "all" : "category") : category === undefined ? "route" : "both"
    ];
  return `SELECT number FROM dead_letter INDEXED BY ${index} ${where} ORDER BY failed_at, id`;
}

/** In the order of the conditions. */
function valuesOf({ routeId, category, since, before }: DeadLetterFilter): SQLInputValue[] {
  return [routeId, category, since, before].filter((value) => value !== undefined);
}

/** SQLite counts in integers. */
function atMost(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER);
}
