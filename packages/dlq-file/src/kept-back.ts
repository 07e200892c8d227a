/** What stands in marks that are written: quotes within a text of them have a backslash, so no note says it. */
const QUARANTINED = '"quarantined":true';

/** Of a row: its entry is quarantined. The index of those has this very condition. */
export const IS_KEPT_BACK = `typeof(marks) = 'text' AND instr(marks, '${QUARANTINED}') > 0`;

/** The same of marks that were read. Also where they are not as they were written, so that counts have what lists show. */
export function isKeptBack(marks: unknown): boolean {
  return typeof marks === "string" && marks.includes(QUARANTINED);
}
