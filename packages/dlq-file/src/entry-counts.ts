import type { DeadLetterPosition, ErrorClass, ErrorCode } from "@bridge/ports";
import type { FacetCell, FacetLine } from "@bridge/ports/internal";

/** What is counted of an entry. */
export interface CountedRow {
  readonly id: string;
  readonly failed_at: number;
  readonly route_id: string;
  readonly binding_id: string;
  readonly category: ErrorClass;
  readonly error_code: ErrorCode;
  readonly fingerprint: string;
  /** 1, or 0: it is not. */
  readonly quarantined: number;
}

/** What becomes of an entry; nothing, where it counts as before. */
export interface CountedChange {
  /** As it was in the list until now; absent when it was not there. */
  readonly was?: CountedRow | undefined;
  /** As it is there from now on; absent when it is not any more. */
  readonly is?: CountedRow | undefined;
}

type LineRow = Omit<CountedRow, "id" | "failed_at" | "quarantined">;

/** Entries that follow one another in the order of time, added up. */
export interface CountedStretch {
  readonly groups: readonly CountedGroup[];
  /** The last of them; `undefined`: there are no more behind them. */
  readonly upTo: DeadLetterPosition | undefined;
}

/** Entries that have all in common that is counted, and failed in the same hour. */
export interface CountedGroup extends LineRow {
  readonly quarantined: number;
  readonly count: number;
  readonly oldest: number;
  readonly newest: number;
}

/** The entries of a line that failed in one unit of time. */
export interface CountedCell extends FacetCell {
  count: number;
  oldestFailedAt: number;
  newestFailedAt: number;
  /** The entry that had this bound is gone: the bound is looked up when somebody asks for it. */
  staleOldest: boolean;
  staleNewest: boolean;
}

type Cells = Map<number, CountedCell>;

/**
 * Entries that have all in common that they are grouped by, by the unit of time in which they failed: those that are not quarantined, and
 * those that are. They are of one line, so that one that is marked while lines are added up counts once.
 */
export interface CountedLine extends FacetLine {
  readonly free: Cells;
  readonly quarantined: Cells;
}

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** More cells than this, and hours become days. */
const MAX_HOUR_CELLS = 50_000;
/** More than this are too many to be kept, as when no two errors are alike: then nothing is counted any more. */
const MAX_CELLS = 200_000;

/**
 * How many entries an open file has, by all that they are grouped by: kept with each that is put or deleted. They are first
 * counted in the order of time, up to a position: what happens behind it does not count yet.
 */
export class EntryCounts {
  readonly #lines = new Map<string, CountedLine>();
  #unitMs = HOUR_MS;
  #cells = 0;
  /** Up to where the entries have been counted; Infinity: all of them. */
  #upTo: DeadLetterPosition = { failedAt: -Infinity, id: "" };
  #givenUp = false;

  /** Whether they are those of all entries. */
  get complete(): boolean {
    return this.#upTo.failedAt === Infinity && !this.#givenUp;
  }

  /** Whether there is still something to be counted. */
  get pending(): boolean {
    return this.#upTo.failedAt !== Infinity && !this.#givenUp;
  }

  get upTo(): DeadLetterPosition {
    return this.#upTo;
  }

  /** How long the time of a cell is. */
  get unitMs(): number {
    return this.#unitMs;
  }

  /** These come next in the order of time; without `last` there are no more. */
  count({ groups, upTo = { failedAt: Infinity, id: "" } }: CountedStretch): void {
    for (const group of groups) this.#add(group);
    this.#upTo = upTo;
  }

  change({ was, is }: CountedChange): void {
    // First what is: a line that lost its last entry and got it back would be met once more by whoever goes through the lines.
    if (is !== undefined && this.#has(is)) this.#add({ ...is, count: 1, oldest: is.failed_at, newest: is.failed_at });
    if (was !== undefined && this.#has(was)) this.#remove(was);
  }

  get lines(): Iterable<CountedLine> {
    return this.#lines.values();
  }

  #has({ failed_at: failedAt, id }: CountedRow): boolean {
    if (this.#givenUp) return false;
    if (failedAt !== this.#upTo.failedAt) return failedAt < this.#upTo.failedAt;
    // As SQLite compares text.
    return Buffer.compare(Buffer.from(id), Buffer.from(this.#upTo.id)) <= 0;
  }

  #add(group: CountedGroup): void {
    if (this.#givenUp) return;
    const { count, oldest, newest } = group;
    const cells = cellsOf(this.#lineOf(group), group);
    const unit = Math.floor(oldest / this.#unitMs);
    const cell = cells.get(unit);
    if (cell === undefined) {
      const bounds = { oldestFailedAt: oldest, newestFailedAt: newest, staleOldest: false, staleNewest: false };
      cells.set(unit, { count, ...bounds });
      if (++this.#cells > (this.#unitMs === HOUR_MS ? MAX_HOUR_CELLS : MAX_CELLS)) this.#widen();
      return;
    }
    cell.count += count;
    if (oldest <= cell.oldestFailedAt) {
      cell.oldestFailedAt = oldest;
      cell.staleOldest = false;
    }
    if (newest >= cell.newestFailedAt) {
      cell.newestFailedAt = newest;
      cell.staleNewest = false;
    }
  }

  #remove(row: CountedRow): void {
    const line = this.#lineOf(row);
    const { failed_at: at } = row;
    const unit = Math.floor(at / this.#unitMs);
    const cells = cellsOf(line, row);
    const cell = cells.get(unit);
    if (cell !== undefined && --cell.count === 0) {
      cells.delete(unit);
      this.#cells--;
    } else if (cell !== undefined) {
      cell.staleOldest ||= at <= cell.oldestFailedAt;
      cell.staleNewest ||= at >= cell.newestFailedAt;
    }
    if (line.free.size + line.quarantined.size === 0) this.#lines.delete(keyOf(row));
  }

  #lineOf(row: LineRow): CountedLine {
    const key = keyOf(row);
    let line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, (line = { ...lineOf(row), free: new Map(), quarantined: new Map() }));
    return line;
  }

  #widen(): void {
    if (this.#unitMs === DAY_MS) {
      this.#givenUp = true;
      this.#lines.clear();
      return;
    }
    this.#unitMs = DAY_MS;
    this.#cells = 0;
    for (const cells of [...this.#lines.values()].flatMap(({ free, quarantined }) => [free, quarantined])) {
      const hours = [...cells.values()];
      cells.clear();
      for (const hour of hours) {
        const unit = Math.floor(hour.oldestFailedAt / DAY_MS);
        const day = cells.get(unit);
        cells.set(unit, day === undefined ? hour : together(day, hour));
      }
      this.#cells += cells.size;
    }
  }
}

export function lineOf(row: LineRow): FacetLine {
  const { route_id: routeId, binding_id, category, error_code, fingerprint } = row;
  // No index finds rows in which these are no texts.
  const bindingId = typeof binding_id === "string" ? binding_id : "";
  const errorCode = typeof error_code === "string" ? error_code : "INTERNAL";
  return { routeId, bindingId, category, errorCode, fingerprint };
}

function cellsOf({ free, quarantined }: CountedLine, row: Pick<CountedRow, "quarantined">): Cells {
  return row.quarantined === 1 ? quarantined : free;
}

function together(a: CountedCell, b: CountedCell): CountedCell {
  const older = a.oldestFailedAt <= b.oldestFailedAt ? a : b;
  const newer = a.newestFailedAt >= b.newestFailedAt ? a : b;
  return {
    count: a.count + b.count,
    oldestFailedAt: older.oldestFailedAt,
    newestFailedAt: newer.newestFailedAt,
    staleOldest: older.staleOldest,
    staleNewest: newer.staleNewest,
  };
}

function keyOf({ route_id, binding_id, category, error_code, fingerprint }: LineRow): string {
  return `${fingerprint} ${category} ${error_code} ${route_id.length} ${route_id} ${binding_id}`;
}
