/** Stands in no id that is made otherwise. */
const MARK = "~";

/**
 * Ids for the records of one message that redrives a dead letter over several legs: each tells the others, because the entry goes
 * when all of them are delivered, and nobody but the drains may be there by then.
 */
export function legIds(base: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => [base, index, count].join(MARK));
}

/** The ids of all legs of that message; `undefined` for a record that is the only one. */
export function legsOf(id: string): readonly string[] | undefined {
  const [base, , count] = id.split(MARK);
  return base === undefined || count === undefined ? undefined : legIds(base, Number(count));
}
