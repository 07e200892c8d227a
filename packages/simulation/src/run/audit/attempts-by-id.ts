import type { Owner } from "../../time/virtual-time.ts";

/** What one process has tried of one id at one binding. */
interface Tried {
  failures: number;
  /** The messages that have failed since they were settled there. */
  readonly open: Set<number>;
}

/**
 * How many attempts a process may count for an id that several messages have. It forgets them when it settles one, but for
 * those that it is at work on: these have counted them by then.
 */
export class AttemptsById {
  readonly #idOf: (number: number) => string | undefined;
  readonly #byPlace = new Map<string, Map<Owner | undefined, Tried>>();

  constructor(idOf: (number: number) => string | undefined) {
    this.#idOf = idOf;
  }

  failed(number: number, binding: string, by: Owner | undefined): void {
    const id = this.#idOf(number);
    if (id === undefined) return;
    const place = JSON.stringify([id, binding]);
    const byOwner = this.#byPlace.get(place) ?? new Map<Owner | undefined, Tried>();
    this.#byPlace.set(place, byOwner);
    const tried = byOwner.get(by) ?? { failures: 0, open: new Set() };
    byOwner.set(by, tried);
    tried.failures++;
    tried.open.add(number);
  }

  settled(number: number, bindings: Iterable<string>, by: Owner | undefined): void {
    for (const binding of bindings) {
      const byOwner = this.#byPlace.get(JSON.stringify([this.#idOf(number), binding]));
      const tried = byOwner?.get(by);
      tried?.open.delete(number);
      if (tried?.open.size === 0) byOwner?.delete(by);
    }
  }

  /** The most that any process counts for it now. */
  most(number: number, binding: string): number {
    const byOwner = this.#byPlace.get(JSON.stringify([this.#idOf(number), binding]));
    return Math.max(0, ...[...(byOwner?.values() ?? [])].map(({ failures }) => failures));
  }
}
