import type { FileDatabase } from "@bridge/file/internal";
import type { DeadLetterOrder, DeadLetterPosition, DeadLetterQuery, FacetsRequest } from "@bridge/ports";
import { type FacetLine, FacetTally, oneAt, type Steps } from "@bridge/ports/internal";
import { positionOf } from "./dead-letter-row.ts";
import type { DlqTables } from "./dlq-tables.ts";
import { type CountedCell, type EntryCounts, lineOf } from "./entry-counts.ts";

/** So many entries may have failed in the part of a unit of time that a query begins or ends in. */
const MAX_SCANNED = 20_000;
const CHUNK = 500;

/**
 * Adds up what is counted, and looks at the entries of units of time that a query has a part of. `undefined` when those are too many.
 */
export function* tallyCounts(
  file: FileDatabase<DlqTables>,
  counts: EntryCounts,
  request: FacetsRequest,
): Steps<FacetTally<FacetLine> | undefined> {
  const { unitMs } = counts;
  const { query } = request;
  const { since = -Infinity, before = Infinity } = query;
  const tally = new FacetTally<FacetLine>(request, unitMs);
  const [first, end] = [Math.ceil(since / unitMs), Math.floor(before / unitMs)];
  let looked = 0;
  for (const { from, to } of partsOf({ since, before }, first * unitMs, end * unitMs)) {
    let after: DeadLetterPosition = { failedAt: from, id: "" };
    for (;;) {
      const rows = file.read(({ entries }) => entries.counted({ before: to }, after, CHUNK));
      for (const row of rows) {
        after = positionOf(row);
        const line = lineOf(row);
        if (isOf(line, query)) tally.add(line, oneAt(row.failed_at));
      }
      looked += rows.length;
      if (looked > MAX_SCANNED) return undefined;
      if (rows.length < CHUNK) break;
      yield;
    }
  }
  for (const line of counts.lines) {
    if (!isOf(line, query)) continue;
    const cells = [...line.cells].filter(([unit]) => unit >= first && unit < end);
    if (cells.length > 0) {
      lookUpBounds(file, line, cells, unitMs);
      tally.addAll(
        line,
        cells.map(([, cell]) => cell),
      );
    }
    yield;
  }
  return tally;
}

/** The times of a query that are a part of a unit only. `from` and `to`: where its whole units begin and end. */
function partsOf(
  { since, before }: { readonly since: number; readonly before: number },
  from: number,
  to: number,
): readonly { readonly from: number; readonly to: number }[] {
  const parts =
    from < to
      ? [
          { from: since, to: from },
          { from: to, to: before },
        ]
      : [{ from: since, to: before }];
  return parts.filter((part) => part.from < part.to);
}

/** A bound whose entry is gone is looked up, where it is that of the line. */
function lookUpBounds(
  file: FileDatabase<DlqTables>,
  line: FacetLine,
  cells: readonly (readonly [unit: number, cell: CountedCell])[],
  unitMs: number,
): void {
  const units = cells.map(([unit]) => unit);
  const oldest = cells[units.indexOf(least(units))];
  const newest = cells[units.indexOf(-least(units.map((unit) => -unit)))];
  const lookUp = (unit: number, order: DeadLetterOrder): number | undefined => {
    const time = { since: unit * unitMs, before: (unit + 1) * unitMs };
    return file.read(({ entries }) => entries.ofLine(line, time, order))?.failed_at;
  };
  if (oldest?.[1].staleOldest === true) {
    const [unit, cell] = oldest;
    cell.oldestFailedAt = lookUp(unit, "oldest") ?? cell.oldestFailedAt;
    cell.staleOldest = false;
  }
  if (newest?.[1].staleNewest === true) {
    const [unit, cell] = newest;
    cell.newestFailedAt = lookUp(unit, "newest") ?? cell.newestFailedAt;
    cell.staleNewest = false;
  }
}

function least(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => Math.min(a, b), Infinity);
}

function isOf(line: FacetLine, { routeId, bindingId, category, errorCode, fingerprint }: DeadLetterQuery): boolean {
  return (
    (routeId === undefined || line.routeId === routeId) &&
    (bindingId === undefined || line.bindingId === bindingId) &&
    (category === undefined || line.category === category) &&
    (errorCode === undefined || line.errorCode === errorCode) &&
    (fingerprint === undefined || line.fingerprint === fingerprint)
  );
}
