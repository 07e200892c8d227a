import type { Page } from "../dlq-store.ts";

/** The same for every store: a database may take a negative limit for none. @throws RangeError naming the field and the remedy */
export function demandPage(page: Pick<Page, "limit"> & Partial<Page>): void {
  for (const field of ["limit", "offset"] as const) {
    const value = page[field] ?? 0;
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`${field} of a page of dead letters is ${value}: give a whole number from 0`);
  }
}
