import type { Owner } from "../time/virtual-time.ts";

/** That an instance has told a source what to do with a message. */
export interface Told {
  readonly number: number;
  readonly at: number;
  /** The source is to forget it. */
  readonly accepts: boolean;
}

/** What each instance has told its source, in that order. */
export class Settlements {
  readonly #byOwner = new Map<Owner, Told[]>();

  add(by: Owner, told: Told): void {
    const all = this.#byOwner.get(by) ?? [];
    this.#byOwner.set(by, all);
    all.push(told);
  }

  of(owner: Owner): readonly Told[] {
    return this.#byOwner.get(owner) ?? [];
  }
}
