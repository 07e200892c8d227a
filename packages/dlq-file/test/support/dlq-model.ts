import type { DeadLetter, DeadLetterFilter } from "@bridge/ports";

/** What a DLQ should be: a plain list that is filtered and sorted anew for each question. */
export class DlqModel {
  #entries: readonly DeadLetter[] = [];

  put(entry: DeadLetter): void {
    if (this.get(entry.id) === undefined) this.#entries = [...this.#entries, entry];
  }

  get(id: string): DeadLetter | undefined {
    return this.#entries.find((entry) => entry.id === id);
  }

  matching({ routeId, category, since, before }: DeadLetterFilter): readonly DeadLetter[] {
    return this.#entries
      .filter((entry) => routeId === undefined || entry.routeId === routeId)
      .filter((entry) => category === undefined || entry.category === category)
      .filter((entry) => since === undefined || entry.failedAt >= since)
      .filter((entry) => before === undefined || entry.failedAt < before)
      .toSorted((a, b) => a.failedAt - b.failedAt || (a.id < b.id ? -1 : 1));
  }

  remove(ids: ReadonlySet<string>): void {
    this.#entries = this.#entries.filter(({ id }) => !ids.has(id));
  }
}

export { deadLetterHead as headOf } from "@bridge/ports";
