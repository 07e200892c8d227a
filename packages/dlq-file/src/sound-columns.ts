/** Beyond it JavaScript has no whole numbers, and SQLite refuses to read any. */
export const MOST = Number.MAX_SAFE_INTEGER;
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** Numbers of rows that are gone are given again: an id made of one may be that of another by now. */
export const NEW_ID = "'spoiled-' || lower(hex(randomblob(8)))";

/** A condition: the head of the row says the id that it is found by. It is JSON, in whose texts quotes have a backslash. */
export function saysId(row: string): string {
  return `CASE typeof(${row}.id) WHEN 'text' THEN instr(${row}.head, '"id":' || json_quote(${row}.id)) > 0 ELSE 0 END`;
}

/** Of `dead_letter` and its trash: what there is to be read of a column, whatever somebody has put there. The head may still say what it was. */
export const SOUND = {
  id: text("id", NEW_ID),
  failed_at: number("failed_at", told("failedAt", "integer", NOW, `BETWEEN -${MOST} AND ${MOST}`)),
  route_id: text("route_id", told("routeId", "text", "''")),
  binding_id: text("binding_id", told("bindingId", "text", "''")),
  category: text("category", told("category", "text", "'permanent'")),
  error_code: text("error_code", told("errorCode", "text", "'INTERNAL'")),
  fingerprint: text("fingerprint", told("fingerprint", "text", "''")),
} as const;

/** The same of `dead_letter_job`. The engine finds that its document was not sealed with these. */
export const SOUND_JOB = {
  id: text("id", NEW_ID),
  revision: number("revision", "0"),
  state: text("state", "''"),
  created_at: number("created_at", NOW),
  document: text("document", "''"),
} as const;

/** Conditions, of which one is true where a column cannot be read; each finds its rows in an index. */
export const UNSOUND: readonly string[] = [
  ...unsoundTime("failed_at"),
  ...["id", "route_id", "category", "fingerprint"].flatMap((column) => [`${column} < ''`, `${column} >= x''`]),
];

export function unsoundTime(column: string): readonly string[] {
  return [`${column} < -${MOST}`, `${column} > ${MOST}`];
}

/** When what does not say until when it stays is erased. */
export const A_DAY_FROM_NOW = `${NOW} + 86400000`;

function number(column: string, otherwise: string): string {
  return `CASE WHEN typeof(${column}) IN ('integer', 'real') AND ${column} BETWEEN -${MOST} AND ${MOST} THEN ${column} ELSE ${otherwise} END`;
}

function text(column: string, otherwise: string): string {
  return `CASE typeof(${column}) WHEN 'text' THEN ${column} ELSE ${otherwise} END`;
}

/** What the head says, where it can be read. */
function told(field: string, type: "text" | "integer", otherwise: string, range = "IS NOT NULL"): string {
  const value = `json_extract(head, '$.${field}')`;
  return `CASE WHEN json_valid(head) AND json_type(head, '$.${field}') = '${type}' AND ${value} ${range} THEN ${value} ELSE ${otherwise} END`;
}
