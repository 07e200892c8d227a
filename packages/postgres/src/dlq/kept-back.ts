import type { DeadLetterMarks } from "@bridge/ports";
import { marksIn } from "@bridge/ports/internal";

/**
 * A condition: the marks of a row say that its entry is quarantined. Quotes within a text of them have a backslash, so no note says it.
 * The index of those entries has this very condition. A space may be there if somebody has written the marks by hand.
 */
export const IS_KEPT_BACK = `marks ~ '"quarantined": ?true'`;
const KEPT_BACK = /"quarantined": ?true/;

/** The marks of a row. Of marks that cannot be read nothing is left but that they kept the entry back: so counts have what lists show. */
export function marksOf(text: string | null): DeadLetterMarks | undefined {
  const isKeptBack = text !== null && KEPT_BACK.test(text);
  return marksIn(text) ?? (isKeptBack ? { quarantined: true } : undefined);
}
