import type { FileDatabase } from "@bridge/file/internal";
import type { DeadLetterOrder, DeadLetterPosition, DeadLetterQuery, FacetsRequest } from "@bridge/ports";
import { type FacetLine, FacetTally, type Steps } from "@bridge/ports/internal";
import type { DlqTables } from "./dlq-tables.ts";
import { type CountedCell, type CountedLine, type EntryCounts, lineOf } from "./entry-counts.ts";

/** So many entries may have failed in the parts of units of time that a query begins and ends in: adding them up takes a second or two. */
const MAX_SCANNED = 1_000_000;
/** So many keys are added up at a time, which takes a millisecond or two. */
const CHUNK = 1_000;

/**
 * Adds up what is counted, and the entries of units of time that a query has a part of. `undefined` when those are too many. An entry that
 * is marked meanwhile counts once, as it was or as it is.
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
    for (let after: DeadLetterPosition | undefined = { failedAt: from, id: "" }; after !== undefined;) {
      const behind: DeadLetterPosition = after;
      const { groups, upTo } = file.read(({ entries }) => entries.stretch(behind, CHUNK, to));
      for (const group of groups) {
        const { count, oldest, newest } = group;
        looked += count;
        const line = lineOf(group);
        const asked = query.quarantined ?? group.quarantined === 1;
        if (isOf(line, query) && asked === (group.quarantined === 1))
          tally.add(line, { count, oldestFailedAt: oldest, newestFailedAt: newest });
      }
      if (looked > MAX_SCANNED) return undefined;
      after = upTo;
      yield;
    }
  }
  for (const line of counts.lines) {
    if (!isOf(line, query)) continue;
    for (const quarantined of query.quarantined === undefined ? [false, true] : [query.quarantined]) {
      const all = quarantined ? line.quarantined : line.free;
      const cells = [...all].filter(([unit]) => unit >= first && unit < end);
      if (cells.length === 0) continue;
      lookUpBounds(file, { line, quarantined }, cells, unitMs);
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
  { line, quarantined }: { readonly line: CountedLine; readonly quarantined: boolean },
  cells: readonly (readonly [unit: number, cell: CountedCell])[],
  unitMs: number,
): void {
  const units = cells.map(([unit]) => unit);
  const oldest = cells[units.indexOf(least(units))];
  const newest = cells[units.indexOf(-least(units.map((unit) => -unit)))];
  const lookUp = (unit: number, order: DeadLetterOrder): number | undefined => {
    const which = { since: unit * unitMs, before: (unit + 1) * unitMs, quarantined };
    return file.read(({ entries }) => entries.ofLine(line, which, order))?.failed_at;
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
