/** A version that an operator was told is on probation. */
interface Tried {
  /** When its time is up, by any clock there is. */
  until: number;
}

export interface DocumentBooksOptions {
  readonly violated: (words: string) => void;
  readonly now: () => number;
  /** For how long instances stand still in all, as no clock of theirs may show it. */
  readonly stillMs: number;
}

/** A change that is tried out goes back so long after its time, at the latest: what a store may take to answer, and a swap. */
export const BACK_MS = 5 * 60_000;
/** Clocks are wrong by a hundredth. */
const DRIFT = 1.02;

/** What is seen of the document and what operators are told of it, and what of that does not fit. */
export class DocumentBooks {
  /** The highest version that was ever given to a document. */
  highest = 1;
  readonly #options: DocumentBooksOptions;
  readonly #stored = new Set([1]);
  readonly #tried = new Map<number, Tried>();
  readonly #confirmed = new Set<number>();
  /** A hand has put them there. */
  readonly #wanted = new Set<number>();
  /** Those who tried them out have died since. */
  readonly #orphaned = new Set<number>();

  constructor(options: DocumentBooksOptions) {
    this.#options = options;
  }

  /** It is what is stored now. */
  written(version: number): void {
    this.given(version);
    this.#stored.add(version);
  }

  /** A document has it, which is stored or tried out. */
  given(version: number): void {
    this.#orphaned.delete(version);
    this.highest = Math.max(this.highest, version);
  }

  /** It is what was stored until an instance put another one in its place. */
  putBack(version: number): void {
    if (this.#confirmed.has(version))
      this.#options.violated(`version ${version} was put back after its operator was told that it is confirmed`);
  }

  /** An operator is told that it is on probation. */
  tried(version: number, withinMs: number): void {
    // He is told of what a hand has put there to stay meanwhile.
    if (this.#wanted.has(version)) return;
    const { now, stillMs } = this.#options;
    this.#tried.set(version, { until: now() + withinMs * DRIFT + stillMs });
  }

  /** The process that tries it out dies, and has not noted that it ends in order. */
  dies(version: number): void {
    this.#orphaned.add(version);
  }

  /** A process goes on with it, and has at least so long. */
  goesOn(version: number, leastMs: number): void {
    if (this.#orphaned.has(version))
      this.#options.violated(`version ${version} is tried out on, although the process has died that tried it out`);
    const tried = this.#tried.get(version);
    if (tried !== undefined) tried.until = Math.max(tried.until, this.#options.now() + leastMs * DRIFT);
  }

  /** It is tried out no more: it is stored for good, or a start could not find out how it stands with it, as its log says. */
  stays(version: number): void {
    this.#tried.delete(version);
  }

  /** A hand has put it there, also if it was being tried out: no instance takes it back. */
  wanted(version: number): void {
    this.written(version);
    this.stays(version);
    this.#wanted.add(version);
  }

  /** An operator is told that it is there to stay. */
  told(version: number, what: "committed" | "confirmed"): void {
    if (!this.#stored.has(version))
      this.#options.violated(`version ${version} is told to be ${what}, and was never stored`);
    if (what === "confirmed") this.#confirmed.add(version);
  }

  /** Whether it is tried out, or may be so soon after its time. */
  mayBeTried(version: number): boolean {
    const until = this.overSince(version);
    return until !== undefined && this.#options.now() <= until + 2 * BACK_MS;
  }

  /** Since when nobody may run it any more; `undefined` of one that is not tried out. */
  overSince(version: number): number | undefined {
    return this.#confirmed.has(version) ? undefined : this.#tried.get(version)?.until;
  }
}
