import type { SQLInputValue } from "node:sqlite";
import type { DeadLetterOrder, DeadLetterPosition, DeadLetterQuery } from "@bridge/ports";
import { INDEXES } from "./dlq-file-kind.ts";
import { IS_KEPT_BACK } from "./kept-back.ts";
import { lookupKey } from "./lookup-key.ts";

/** Entries that one index has, in its order. The index is named, so that no statistics of the file can lead to another one. */
interface IndexRange {
  /** What comes behind `FROM dead_letter`. */
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
  /** Whether these are the entries of the query, and no others. */
  readonly exact: boolean;
}

export interface RangeOptions {
  readonly order?: DeadLetterOrder;
  readonly after?: DeadLetterPosition | undefined;
  /** The last one that may be among them. */
  readonly upTo?: DeadLetterPosition | undefined;
}

/** What is asked of the index that fits a query best. */
export function indexRange(query: DeadLetterQuery, { order = "oldest", after, upTo }: RangeOptions = {}): IndexRange {
  const { index, equal } = indexFor(query);
  const newest = order === "newest";
  const conditions: [sql: string, ...values: SQLInputValue[]][] = [...equal];
  if (query.since !== undefined) conditions.push(["failed_at >= ?", query.since]);
  if (query.before !== undefined) conditions.push(["failed_at < ?", query.before]);
  if (after !== undefined) conditions.push([`(failed_at, id) ${newest ? "<" : ">"} (?, ?)`, after.failedAt, after.id]);
  if (upTo !== undefined) conditions.push([`(failed_at, id) ${newest ? ">=" : "<="} (?, ?)`, upTo.failedAt, upTo.id]);
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`;
  const by = newest ? "ORDER BY failed_at DESC, id DESC" : "ORDER BY failed_at, id";
  return {
    sql: `INDEXED BY ${INDEXES[index]} ${where} ${by}`,
    values: conditions.flatMap(([, ...values]) => values),
    exact: isExact(query, index),
  };
}

/** Whether a query asks for an id that is looked for by its key, entry by entry of an index. */
export function isLookedFor({ envelopeId, correlationId }: DeadLetterQuery): boolean {
  return envelopeId !== undefined || correlationId !== undefined;
}

/** Which index, and what has to be equal in it. */
function indexFor(query: DeadLetterQuery): {
  readonly index: keyof typeof INDEXES;
  readonly equal: readonly [sql: string, ...values: SQLInputValue[]][];
} {
  const { routeId, category, fingerprint, envelopeId, correlationId, quarantined } = query;
  if (isLookedFor(query)) {
    const equal: [string, number][] = [];
    if (envelopeId !== undefined) equal.push(["envelope_key = ?", lookupKey(envelopeId)]);
    if (correlationId !== undefined) equal.push(["correlation_key = ?", lookupKey(correlationId)]);
    return { index: "all", equal };
  }
  if (quarantined === true) return { index: "quarantined", equal: [[IS_KEPT_BACK]] };
  if (fingerprint !== undefined) return { index: "fingerprint", equal: [["fingerprint = ?", fingerprint]] };
  if (routeId !== undefined && category !== undefined)
    return {
      index: "both",
      equal: [
        ["route_id = ?", routeId],
        ["category = ?", category],
      ],
    };
  if (routeId !== undefined) return { index: "route", equal: [["route_id = ?", routeId]] };
  if (category !== undefined) return { index: "category", equal: [["category = ?", category]] };
  return { index: "all", equal: [] };
}

/** What an index answers besides the time. */
const ANSWERS: Readonly<Record<keyof typeof INDEXES, readonly (keyof DeadLetterQuery)[]>> = {
  all: [],
  route: ["routeId"],
  category: ["category"],
  both: ["routeId", "category"],
  fingerprint: ["fingerprint"],
  quarantined: ["quarantined"],
};

function isExact(query: DeadLetterQuery, index: keyof typeof INDEXES): boolean {
  const answered: ReadonlySet<string> = new Set([...ANSWERS[index], "since", "before"]);
  return Object.entries(query).every(([name, value]) => value === undefined || answered.has(name));
}
