import type { Owner } from "../time/virtual-time.ts";

/** A route makes no more calls of a processor while so many go on that were given up, and says that it stands still. */
const MOST = 100;

/** Calls of processors that were given up and go on, by the instance that has made them. */
export class LateCalls {
  readonly #open = new Map<Owner, number>();

  begins(owner: Owner): void {
    this.#open.set(owner, this.#of(owner) + 1);
  }

  ends(owner: Owner): void {
    this.#open.set(owner, this.#of(owner) - 1);
  }

  /** Whether it may stand still for them. */
  tooMany(owner: Owner): boolean {
    return this.#of(owner) >= MOST;
  }

  #of(owner: Owner): number {
    return this.#open.get(owner) ?? 0;
  }
}
