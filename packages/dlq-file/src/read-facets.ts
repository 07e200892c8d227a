import type { FileDatabase } from "@bridge/file/internal";
import type { Clock, DeadLetterPosition, DeadLetterQuery, Facets, FacetsRequest } from "@bridge/ports";
import { type FacetLine, FacetTally, matchesQuery, oneAt, Slices, type Steps } from "@bridge/ports/internal";
import { headOf } from "./dead-letter-row.ts";
import type { DlqTables } from "./dlq-tables.ts";
import { tallyCounts } from "./tally-counts.ts";

/** So many of the newest entries are looked at where they are not counted. */
const MAX_SCANNED = 20_000;
/** What a query may ask for of what is counted. */
const COUNTED: ReadonlySet<string> = new Set<keyof DeadLetterQuery>([
  "routeId",
  "bindingId",
  "category",
  "errorCode",
  "fingerprint",
  "quarantined",
  "since",
  "before",
]);
/** So many heads are read at a time: on a slow machine 200 of them take as long as the slice that they end. */
const CHUNK = 50;

/** Counts by groups: from what is counted in the process, or of the newest entries. */
export async function readFacets(
  file: FileDatabase<DlqTables>,
  request: FacetsRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<Facets> {
  signal.throwIfAborted();
  const slices = new Slices(clock);
  const { counts } = file.read((tables) => tables);
  if (counts.complete && isCounted(request)) {
    const tally = await slices.run(tallyCounts(file, counts, request), signal);
    const sampleOf = (line: FacetLine): ReturnType<typeof headOf> | undefined => {
      const row = file.read(({ entries }) => entries.ofLine(line, request.query, "newest"));
      return row && headOf(row);
    };
    if (tally !== undefined) return tally.facets(true, sampleOf);
  }
  return slices.run(scanned(file, request), signal);
}

/** Whether all that it asks for is counted. */
function isCounted({ query, by }: FacetsRequest): boolean {
  const asked = Object.entries(query).filter(([, value]) => value !== undefined);
  return !by.includes("assignee") && asked.every(([name]) => COUNTED.has(name));
}

/** Of the newest. */
function* scanned(file: FileDatabase<DlqTables>, request: FacetsRequest): Steps<Facets> {
  const tally = new FacetTally<ReturnType<typeof headOf>>(request);
  let after: DeadLetterPosition | undefined;
  for (let looked = 0; ;) {
    const { rows, next } = file.read(({ entries }) => entries.heads(request.query, { order: "newest", after }, CHUNK));
    for (const row of rows) {
      if (looked === MAX_SCANNED) return tally.facets(false, (head) => head, looked);
      looked++;
      const head = headOf(row);
      if (matchesQuery(head, request.query)) tally.add(head, oneAt(head.failedAt));
    }
    if (next === undefined) return tally.facets(true, (head) => head);
    after = next;
    yield;
  }
}
