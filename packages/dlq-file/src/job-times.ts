/** What a purge may have given a longer time than it says is over so much later. */
const SLACK_MS = 24 * 3_600_000;
/** Longer than a purge can give: whoever says so has changed the document. */
const MOST_MS = 8 * 24 * 3_600_000;

/**
 * A condition on jobs: at `now` what such a job has thrown away is in time. Their documents are sealed; the end that stands beside an
 * entry of the trash is not.
 */
export function holdsBatch(now: string): string {
  return `(state = 'undoing' OR ${told("undoUntil")} > ${now} AND ${told("undoUntil")} <= ${now} + ${MOST_MS})`;
}

/** Another one: if its seal holds, nothing that such a job has thrown away can be in time at `now`. */
export function isLongOver(now: string): string {
  const last = `max(${told("undoUntil")}, ${told("endedAt")} + coalesce(${told("undoWithinMs")}, 0))`;
  return `state <> 'undoing' AND ${last} < ${now} - ${SLACK_MS}`;
}

/** A number at the top of the document; NULL when there is none. Within a text of JSON the quotes have a backslash. */
function told(name: string): string {
  const key = `"${name}":`;
  return `CAST(substr(document, nullif(instr(document, '${key}'), 0) + ${key.length}, 20) AS INTEGER)`;
}
