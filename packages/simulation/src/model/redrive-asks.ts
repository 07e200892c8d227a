import type { Owner } from "../time/virtual-time.ts";

/** Whom an outbox has told that no redrive of a dead letter is on its way, and who has entered none since. */
export class RedriveAsks {
  readonly #free = new Set<string>();

  isTold(by: Owner, entryId: string, there: string | undefined): void {
    if (there === undefined) this.#free.add(nameOf(by, entryId));
  }

  mayEnter(by: Owner, entryId: string): boolean {
    return this.#free.has(nameOf(by, entryId));
  }

  enters(by: Owner, entryId: string): void {
    this.#free.delete(nameOf(by, entryId));
  }
}

function nameOf({ name }: Owner, entryId: string): string {
  return `${name} ${entryId}`;
}
