import { UnreadableRow } from "@bridge/file/internal";

/** What entries, jobs and groups of entries are found, ordered and counted by; the rest is looked at when one of them is read. */
const COLUMNS: Readonly<Record<string, "text" | "number">> = {
  id: "text",
  failed_at: "number",
  route_id: "text",
  category: "text",
  fingerprint: "text",
  oldest: "number",
  newest: "number",
  until: "number",
  revision: "number",
  state: "text",
  createdAt: "number",
  document: "text",
};

/**
 * Rows whose columns have what belongs there: somebody may change one while the file is open, too.
 *
 * @throws UnreadableRow
 */
export function demandReadable<Row>(rows: readonly Row[]): readonly Row[] {
  for (const row of rows as readonly Readonly<Record<string, unknown>>[])
    for (const column in row) if (!isReadable(row[column], COLUMNS[column])) throw new UnreadableRow(column);
  return rows;
}

function isReadable(value: unknown, wanted: "text" | "number" | undefined): boolean {
  if (wanted === undefined) return true;
  if (wanted === "text") return typeof value === "string";
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}
