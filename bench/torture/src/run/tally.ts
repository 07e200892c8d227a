import type { OwnEnd } from "./lives.ts";
import type { TroubleNote } from "./troubles.ts";

const MAX_TROUBLES_KEPT = 400;

/** What has been done to the bridge so far. */
export class Tally {
  kills = 0;
  /** It was asked to end, and did before the kill that was to follow. */
  stops = 0;
  readonly ownEnds: OwnEnd[] = [];
  /** The last troubles. */
  readonly lastTroubles: TroubleNote[] = [];
  readonly #troubles = new Map<string, number>();

  trouble(note: TroubleNote): void {
    const name = `${note.lane}.${note.kind}`;
    this.#troubles.set(name, (this.#troubles.get(name) ?? 0) + 1);
    this.lastTroubles.push(note);
    if (this.lastTroubles.length > MAX_TROUBLES_KEPT) this.lastTroubles.shift();
  }

  /** How often each trouble was made, by name. */
  get troubles(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#troubles].toSorted(([a], [b]) => a.localeCompare(b)));
  }

  get allTroubles(): number {
    return this.#troubles.values().reduce((sum, count) => sum + count, 0);
  }
}
