/** The time of all instances, in epoch milliseconds: their own clocks may differ by more than an undo has time. */
export const NOW = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";
/** What a purge may have given a longer time than it says is over so much later; clocks differ by less. */
const SLACK_MS = 24 * 3_600_000;
/** Longer than a purge can give: whoever says so has changed the document. */
const MOST_MS = 8 * 24 * 3_600_000;
/**
 * Conditions on jobs: what such a job has thrown away is in time, or, if its seal holds, cannot be. Their documents are sealed; the end beside
 * an entry is not.
 */
export const HOLDS = `(state = 'undoing' OR ${numberIn("undoUntil")} > ${NOW} AND ${numberIn("undoUntil")} <= ${NOW} + ${MOST_MS})`;
export const IS_LONG_OVER = `state <> 'undoing' AND ${numberIn("undoUntil")} < ${NOW} - ${SLACK_MS}
  AND ${numberIn("endedAt")} + coalesce(${numberIn("undoWithinMs")}, 0) < ${NOW} - ${SLACK_MS}`;
/** A number at the top of a job's document. Within a text of JSON the quotes have a backslash. */
function numberIn(name: string): string {
  return `substring(document from '"${name}":([0-9]{1,15})')::bigint`;
}
