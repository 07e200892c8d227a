/** Appears in no other kind of id. */
const MARK = "~";

/**
 * Makes ids for the records of a message that redrives a dead letter over several legs. Each id reveals the others: the
 * entry is deleted once all legs are delivered, and by then perhaps only the drains are left to do it.
 */
export function legIds(base: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => [base, index, count].join(MARK));
}

/** The ids of all legs of that message; `undefined` if the record is the only one. */
export function legsOf(id: string): readonly string[] | undefined {
  const [base, , count] = id.split(MARK);
  return base === undefined || count === undefined ? undefined : legIds(base, Number(count));
}
