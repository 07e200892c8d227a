import type { Owner } from "../time/virtual-time.ts";

/** After this many abandoned calls, a route stops calling a processor and reports that it stands still. */
const MOST = 100;

/** Calls of processors that were given up but still run, by instance. */
export class LateCalls {
  readonly #open = new Map<Owner, number>();

  begins(owner: Owner): void {
    this.#open.set(owner, this.#of(owner) + 1);
  }

  ends(owner: Owner): void {
    this.#open.set(owner, this.#of(owner) - 1);
  }

  /** Whether the instance may stand still because of them. */
  tooMany(owner: Owner): boolean {
    return this.#of(owner) >= MOST;
  }

  #of(owner: Owner): number {
    return this.#open.get(owner) ?? 0;
  }
}
